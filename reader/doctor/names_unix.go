//go:build unix

package doctor

import "golang.org/x/sys/unix"

// namesAndUser returns how many names a file has and whose it is; -1 if nobody
// knows.
func namesAndUser(path string) (names, user int) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return -1, -1
	}
	return int(st.Nlink), int(st.Uid)
}
