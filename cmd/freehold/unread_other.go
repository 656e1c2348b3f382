//go:build !linux

package main

import "io"

// onceUnread is nothing that holds on every other system: there the next write
// tells.
func onceUnread(io.Writer, func()) {}
