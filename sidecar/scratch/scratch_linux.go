package scratch

import "golang.org/x/sys/unix"

// fit reports whether dir is in memory and can be used so.
func fit(dir string, u Use) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Type != unix.TMPFS_MAGIC {
		return false
	}
	if u.Programs && st.Flags&unix.ST_NOEXEC != 0 {
		return false
	}
	return st.Bavail >= uint64(u.Room/st.Bsize)
}
