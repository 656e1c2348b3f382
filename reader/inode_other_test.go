//go:build !unix

package reader_test

import "testing"

func inode(t *testing.T, path string) uint64 { t.Skip("Freehold needs Unix"); return 0 }
