//go:build !linux

package main

import "syscall"

// dyingWithParent is nothing that other systems can do.
func dyingWithParent() *syscall.SysProcAttr { return nil }
