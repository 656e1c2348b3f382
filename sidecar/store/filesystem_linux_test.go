package store

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestFileSystemsAreAllowedByName(t *testing.T) {
	const unheardOf = 0xdeadbeef
	for _, tc := range []struct {
		magic   int64
		allowed string
		refused string // what the refusal says; "" if there is none
	}{
		{unix.EXT4_SUPER_MAGIC, "", ""},
		{unix.XFS_SUPER_MAGIC, "NFS", ""},
		{unix.BTRFS_SUPER_MAGIC, "", ""},
		{unix.TMPFS_MAGIC, "", ""},
		{unix.OVERLAYFS_SUPER_MAGIC, "", ""},
		{unix.NFS_SUPER_MAGIC, "", "FREEHOLD_ALLOW_FS=NFS"},
		{unix.NFS_SUPER_MAGIC, "FUSE", "on NFS"},
		{unix.NFS_SUPER_MAGIC, "*", "on NFS"},
		{unix.NFS_SUPER_MAGIC, "nfs", ""},
		{unix.NFS_SUPER_MAGIC, "FUSE, NFS", ""},
		{unix.FUSE_SUPER_MAGIC, "", "FREEHOLD_ALLOW_FS=FUSE"},
		{unix.FUSE_SUPER_MAGIC, "FUSE", ""},
		{unix.CIFS_SUPER_MAGIC, "", "CIFS"},
		{unix.SMB2_SUPER_MAGIC, "", "SMB2"},
		{unix.V9FS_MAGIC, "", "9p"},
		{unix.MSDOS_SUPER_MAGIC, "", "not known to carry locks"},
		{unheardOf, "", "FREEHOLD_ALLOW_FS=0xdeadbeef"},
		{unheardOf, "0xDEADBEEF", ""},
		{0, "", "FREEHOLD_ALLOW_FS=0x00000000"},
	} {
		err := carriesLocks("/srv/state", tc.magic, tc.allowed)
		if tc.refused == "" {
			if err != nil {
				t.Errorf("%#x with %q allowed: %v", tc.magic, tc.allowed, err)
			}
			continue
		}
		wantError(t, err, ErrUnsafe, "/srv/state", tc.refused, "local disk")
	}
}

// The number that decides is that of the file system itself.
func TestARealFileSystemIsRefused(t *testing.T) {
	proc, err := openFolder("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer proc.close()
	wantError(t, localFileSystem(proc), ErrUnsafe, "/proc", "0x00009fa0")
	t.Setenv(allowFS, "0x00009fa0")
	if err := localFileSystem(proc); err != nil {
		t.Error(err)
	}
}
