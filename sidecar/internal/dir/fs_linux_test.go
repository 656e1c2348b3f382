package dir

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch"
	"golang.org/x/sys/unix"
)

func init() { scratch.Guard() }

func TestFileSystemsAreAllowedByName(t *testing.T) {
	const unheardOf = 0xdeadbeef
	for _, tc := range []struct {
		magic   int64
		allowed string
		refused string // a part of the refusal; "" if there is none
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
		wantUnsafe(t, err, "/srv/state", tc.refused, "local disk")
	}
}

// The number that decides is that of the file system itself.
func TestARealFileSystemIsRefused(t *testing.T) {
	proc := open(t, "/proc")
	wantUnsafe(t, localFileSystem(proc), "/proc", "0x00009fa0")
	t.Setenv(allowFS, "0x00009fa0")
	if err := localFileSystem(proc); err != nil {
		t.Error(err)
	}
}

// In a sandbox that maps this user alone, root's directories belong to nobody
// that the kernel can name. A state is usable there all the same.
func TestASandboxedUserHasStates(t *testing.T) {
	const inside = "FREEHOLD_TEST_SANDBOXED"
	if state := os.Getenv(inside); state != "" {
		if !unmapped(65534) || unmapped(uint32(os.Geteuid())) {
			t.Errorf("as user %d: the unmapped users are not told from it", os.Geteuid())
		}
		err := os.Mkdir(state, 0o700)
		if err == nil {
			_, err = OpenSafe(state)
		}
		if err != nil {
			t.Error(err)
		}
		return
	}
	if unmapped(65534) {
		t.Error("a user is unmapped outside of a sandbox")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	base := t.TempDir()
	home, binary := filepath.Join(base, "home"), filepath.Join(base, "test")
	for _, err := range []error{
		os.Chmod(filepath.Dir(base), 0o755), // under any umask
		os.Chmod(base, 0o755),
		os.Mkdir(home, 0o700),
		os.Chown(home, 1000, 1000),
		exec.Command("cp", os.Args[0], binary).Run(),
		os.Chmod(binary, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups",
		"unshare", "--user", "--map-current-user", binary, "-test.run=^TestASandboxedUserHasStates$")
	cmd.Dir, cmd.Env = home, append(os.Environ(), inside+"="+filepath.Join(home, "state"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
