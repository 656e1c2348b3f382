package reader_test

import (
	"os"
	"syscall"
	"testing"
)

func inode(t *testing.T, path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}
