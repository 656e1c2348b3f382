//go:build unix

package tree_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/gen/tree"
)

// Generating as root in another user's module leaves everything that user's:
// replaced files with their group and mode, new files, and new folders. What a
// killed run has left is collected; other files are not.
func TestGeneratingKeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := lay(t, shopModule)
	give := func(path string) error { return os.Lchown(path, 1234, 4321) }
	all := func(do func(path string) error) {
		t.Helper()
		err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error { return errors.Join(err, do(path)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	all(give)
	apply(t, dir, "owners/shop/owners.yaml")
	old := filepath.Join(dir, "owners/shop/freehold.go")
	left := filepath.Join(dir, "owners/shop/.freehold.go.ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	live, other := filepath.Join(dir, "owners/shop/.freehold.go.ABCDEFGHIJKLMNOPQRSTUVWXY2"), filepath.Join(dir, "owners/shop/.freehold.go.notes")
	if err := errors.Join(os.Chmod(old, 0o640), os.WriteFile(left, nil, 0o600), os.WriteFile(live, nil, 0o600), os.WriteFile(other, nil, 0o600),
		give(left), give(live), give(other)); err != nil {
		t.Fatal(err)
	}
	writer, err := os.Open(live)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := syscall.Flock(int(writer.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(old)
	if err == nil {
		err = os.WriteFile(old, append(text, "// changed\n"...), 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
	apply(t, dir, "owners/shop/owners.yaml")
	all(func(path string) error {
		info, err := os.Lstat(path)
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 4321 {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		return err
	})
	if info, err := os.Stat(old); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v (%v)", info.Mode(), err)
	}
	writer.Close()
	apply(t, dir, "owners/shop/owners.yaml") // with nothing to write
	if _, err := os.Lstat(live); err == nil {
		t.Error("the file of a writer that has ended stays")
	}
	for path, stays := range map[string]bool{left: false, other: true} {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A go.mod that is a pipe is named, and nothing waits for its other end.
func TestAModuleFileThatIsAPipeIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "go.mod"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Find(dir); errorText(err) != filepath.Join(dir, "go.mod")+" is not a regular file: move it" {
		t.Errorf("got %v", err)
	}
}
