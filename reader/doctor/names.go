package doctor

import "golang.org/x/sys/unix"

// namesAndUser returns how many names a plain file has, 0 of what is none, and
// whose it is; -1 if nobody knows.
func namesAndUser(path string) (names, user int) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return -1, -1
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		names = int(st.Nlink)
	}
	return names, int(st.Uid)
}
