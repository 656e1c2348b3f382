package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/google/go-cmp/cmp"
)

// readCommands are the command lines that may touch nothing.
var readCommands = [][]string{
	{"view"}, {"view", "--json"},
	{"get", "f"}, {"get", "f", "--default", "7"},
	{"explain", "f"}, {"explain", "total_usd", "--json"},
	{"schema"}, {"schema", "reset"},
	{"doctor"}, {"doctor", "--json"},
	{"__complete", "get", ""},
}

// Case 1: a read creates, rewrites and touches nothing.
func TestReadersTouchNothing(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "f=1", "--dir", dir)
	must(t, "set", "cost", "tokens=1", "--dir", dir)
	before := listing(t, dir)
	for _, args := range readCommands {
		if got := call(t, "", append(args, "--dir", dir)...); got.Status != failure.ExitDone && args[0] != "__complete" {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("a reader touched the state (-before +after):\n%s", diff)
	}
}

// nobody is a user without rights.
const nobody = 65534

// A reader needs no permission to write. Root always has it, so this takes
// another user. The doctor reads too, and finds that no commit can be made.
func TestReadersNeedNoPermissionToWrite(t *testing.T) {
	program, dir := nobodysState(t)
	before := listing(t, dir)
	for _, args := range readCommands {
		got := asNobody(t, program, append(args, "--dir", dir)...)
		want := failure.ExitDone
		if args[0] == "doctor" {
			want = failure.ExitNegative
			if !strings.Contains(got.Stdout, "not-writable") {
				t.Errorf("%q: %+v", args, got)
			}
		}
		if args[0] != "__complete" && (got.Status != want || got.Stderr != "") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("a reader touched the state (-before +after):\n%s", diff)
	}
}

// Case 19: a sidecar without permission to read is unreadable, which is
// neither missing nor empty, and hides no other.
func TestAnUnreadableSidecarIsNamed(t *testing.T) {
	program, dir := nobodysState(t)
	if err := os.Chmod(filepath.Join(dir, "cost.json"), 0); err != nil {
		t.Fatal(err)
	}
	got := asNobody(t, program, "view", "--json", "--dir", dir)
	if got.Status != failure.ExitState || !strings.Contains(got.Stdout, `"cost":{"status":"unreadable","error":"`) || !strings.Contains(got.Stdout, `"fields":{"f":1}`) {
		t.Errorf("view: %+v", got)
	}
	if got := asNobody(t, program, "get", "tokens", "--default", "7", "--dir", dir); got.Status != failure.ExitState || got.Stdout != "" {
		t.Errorf("get: %+v", got)
	}
	if got := asNobody(t, program, "get", "f", "--dir", dir); got != (result{failure.ExitDone, "1\n", ""}) {
		t.Errorf("get of another owner's field: %+v", got)
	}
}

// nobodysState returns a state of the user nobody that this user may not write,
// and a path of the program where the user can run it.
func nobodysState(t *testing.T) (program, dir string) {
	t.Helper()
	dir = freshState(t)
	must(t, "set", "reset", "f=1", "--dir", dir)
	must(t, "set", "cost", "tokens=1", "--dir", dir)
	program = commandFor(t, dir)
	giveAway(t, dir)
	statetest.Damaged(dir, "directory-unsafe")
	return program, dir
}

// boundUser is a user that permissions bind: nobody where root runs the tests, and
// else the user of the tests.
func boundUser() (uid, gid int) {
	if os.Geteuid() == 0 {
		return nobody, nobody
	}
	return os.Geteuid(), os.Getegid()
}

// asNobody runs the program as the bound user.
func asNobody(t *testing.T, program string, args ...string) result {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &stdout, &stderr
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// commandFor returns the path of the program in a place that every user can
// reach, and lets everybody pass to dir.
func commandFor(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "freehold")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, dir} {
		for up := filepath.Dir(path); up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
			if err := os.Chmod(up, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return program
}

// giveAway makes the state the bound user's, without permission to write.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	uid, gid := boundUser()
	openUp(t, dir)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o400)
		if entry.IsDir() {
			mode = 0o500
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// openUp lets the user of the tests remove dir when the test ends.
func openUp(t *testing.T, dir string) {
	t.Cleanup(func() {
		filepath.WalkDir(dir, func(path string, entry fs.DirEntry, _ error) error {
			if entry != nil && entry.IsDir() {
				os.Chmod(path, 0o700)
			}
			return nil
		})
	})
}

// listing describes every file below dir.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		sum := [32]byte{}
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrPermission) { // its times tell, too
				return err
			}
			sum = sha256.Sum256(text)
		}
		stat := info.Sys().(*syscall.Stat_t)
		lines = append(lines, fmt.Sprint(path, info.Mode(), info.Size(), info.ModTime().UnixNano(), stat.Ino, stat.Ctim, sum))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
