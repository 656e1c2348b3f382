package bench

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// The kernel's numbers for file systems, by name.
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC:      "ext4",
	unix.XFS_SUPER_MAGIC:       "xfs",
	unix.BTRFS_SUPER_MAGIC:     "btrfs",
	unix.F2FS_SUPER_MAGIC:      "f2fs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.RAMFS_MAGIC:           "ramfs",
	unix.NFS_SUPER_MAGIC:       "nfs",
	unix.V9FS_MAGIC:            "9p",
	unix.FUSE_SUPER_MAGIC:      "fuse",
	0x2fc12fc1:                 "zfs",
}

// fileSystem names the file system that dir is on.
func fileSystem(dir string) string {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return fmt.Sprintf("an unknown file system (%v)", err)
	}
	if name, ok := fileSystems[int64(fs.Type)]; ok {
		return name
	}
	return fmt.Sprintf("a file system with the number %#x", fs.Type)
}
