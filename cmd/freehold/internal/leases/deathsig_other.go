//go:build !linux

package leases

import "syscall"

// dyingWithParent returns nil: other systems kill no command with its parent.
func dyingWithParent() *syscall.SysProcAttr { return nil }
