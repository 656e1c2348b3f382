package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// In a sandbox that maps this user alone, root's directories belong to nobody
// that the kernel can name. A state is usable there all the same.
func TestASandboxedUserHasStates(t *testing.T) {
	const inside = "FREEHOLD_TEST_SANDBOXED"
	if state := os.Getenv(inside); state != "" {
		if !unmapped(65534) || unmapped(uint32(os.Geteuid())) {
			t.Errorf("as user %d: the unmapped users are not told from it", os.Geteuid())
		}
		if err := Create(state, declaration()); err != nil {
			t.Fatal(err)
		}
		openState(t, state)
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
		os.Chmod(filepath.Dir(base), 0o755), // whatever the umask
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
