//go:build !linux

package screen

import "io"

// onceUnread is nothing that holds on every other system: there the next write
// tells.
func onceUnread(io.Writer, func()) {}
