//go:build !unix

package tree

import (
	"io/fs"
	"os"
)

// KeepOwner does nothing: files have no owners here that a program could give.
func KeepOwner(*os.File, fs.FileInfo, fs.FileInfo) error { return nil }
