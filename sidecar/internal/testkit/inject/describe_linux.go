//go:build amd64 || arm64

package inject

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// unreadable stands for a path that the process had not mapped, or a descriptor that it did not have open.
const unreadable = "?"

// pathsOf names the files in a call's arguments; files is as in syscallKind.
func pathsOf(n *notification, files string) (paths []string) {
	directory := int32(unix.AT_FDCWD)
	for i, file := range files {
		switch file {
		case 'f':
			paths = append(paths, linkOf(n.pid, int32(n.args[i])))
		case 'd':
			directory = int32(n.args[i])
		case 'p':
			path := stringAt(n.pid, n.args[i])
			if directory != unix.AT_FDCWD && path != unreadable && !filepath.IsAbs(path) {
				path = filepath.Join(linkOf(n.pid, directory), path)
			}
			paths = append(paths, path)
		}
	}
	return paths
}

// linkOf names an open descriptor.
func linkOf(pid uint32, fd int32) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	if err != nil {
		return unreadable
	}
	return path
}

// stringAt reads a zero-terminated string from another process.
func stringAt(pid uint32, address uint64) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return unreadable
	}
	defer memory.Close()
	buf := make([]byte, unix.PathMax)
	n, _ := memory.ReadAt(buf, int64(address)) // short at the end of a mapping
	text, _, ended := bytes.Cut(buf[:n], []byte{0})
	if !ended {
		return unreadable
	}
	return string(text)
}

// ofRuntime tells files that the Go runtime uses whenever it likes, to wake itself and to follow its share of the processors. Counting
// them would make runs differ.
func ofRuntime(path string) bool {
	return path == "anon_inode:[eventfd]" || strings.HasPrefix(path, "/sys/fs/cgroup/")
}
