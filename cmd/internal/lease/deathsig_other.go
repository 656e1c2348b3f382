//go:build !linux

package lease

import "syscall"

// dyingWithParent returns nil: other systems kill no command with its parent.
func dyingWithParent() *syscall.SysProcAttr { return nil }
