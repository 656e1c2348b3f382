//go:build unix

package tree

import (
	"io/fs"
	"os"
	"syscall"
)

// KeepOwner gives f, which is to replace the file existing, the owner, group and
// mode of that file; a new file, with existing nil, gets those of its directory's
// owner if root makes it. It returns an error if the owner cannot stay.
func KeepOwner(f *os.File, dir, existing fs.FileInfo) error {
	want := dir
	if existing != nil {
		want = existing
	} else if os.Geteuid() != 0 {
		return nil
	}
	have, err := f.Stat()
	if err != nil {
		return err
	}
	is, should := have.Sys().(*syscall.Stat_t), want.Sys().(*syscall.Stat_t)
	if is.Uid != should.Uid || is.Gid != should.Gid {
		if err := f.Chown(int(should.Uid), int(should.Gid)); err != nil {
			return err
		}
	}
	if existing != nil {
		return f.Chmod(existing.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
	}
	return nil
}

// Names returns how many names the file of info has.
func Names(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Nlink) }

// lock takes the kernel's lock on f, which goes with the process.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
