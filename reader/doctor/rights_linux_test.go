package doctor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights.
const nobody = 65534

// An advised finding is one that the program prints, with the line of its remedy.
type advised struct {
	Code, Path, Remedy, Advice string
	Command                    bool
}

// inShell runs a line through sh with the program on the PATH and $DIR the state, as
// root or, with asUser, as the user nobody.
func inShell(t *testing.T, asUser bool, dir, line string) (string, error) {
	t.Helper()
	path, err := program()
	check(t, err)
	check(t, os.Chmod(filepath.Dir(path), 0o755))
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "FREEHOLD_DIR=", "DIR="+dir, "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"))
	if asUser {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	return string(out), err
}

// cureAs runs the lines that doctor prints as they stand, and returns the findings
// without one that stay.
func cureAs(t *testing.T, asUser bool, dir string) (left []advised) {
	t.Helper()
	tried := map[advised]bool{}
	for again := true; again; {
		again, left = false, nil
		out, err := inShell(t, asUser, dir, `freehold doctor --json --dir "$DIR"`)
		var report struct{ Findings []advised }
		if bad := json.Unmarshal([]byte(out), &report); bad != nil {
			t.Fatalf("%v: %v", bad, err)
		}
		for _, f := range report.Findings {
			switch {
			case !f.Command:
				left = append(left, f)
			case tried[f]:
				t.Errorf("still there after its remedy: %+v", f)
			default: // the remedy may uncover another finding
				tried[f], again = true, true
				out, err := inShell(t, asUser, dir, f.Remedy)
				t.Logf("%s: %s: %v\n%s", f.Code, f.Remedy, err, out)
			}
		}
	}
	return left
}

// usersState returns a state of the user nobody, with odd characters in its path.
func usersState(t *testing.T) string {
	t.Helper()
	from := newState(t)
	above := filepath.Dir(from)
	dir := filepath.Join(above, "-it's a `b`\n$(c)", "state")
	check(t, errors.Join(os.Chmod(filepath.Dir(above), 0o755), os.Chmod(above, 0o755), os.Mkdir(filepath.Dir(dir), 0o755), os.Rename(from, dir)))
	if out, err := exec.Command("chown", "-R", fmt.Sprintf("%d:%d", nobody, nobody), "--", filepath.Dir(dir)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// toRoot gives files to root, with the mode, or with their own if zero.
func toRoot(mode os.FileMode, names ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, name := range names {
			check(t, os.Chown(filepath.Join(dir, name), 0, 0))
			if mode != 0 {
				check(t, os.Chmod(filepath.Join(dir, name), mode))
			}
		}
	}
}

// Root, who looks at a user's state, and the user are each told lines that they can
// run as printed. Without such a line the user is told what to ask of root. After
// that the user can commit, and owns all.
func TestARemedyCuresForRootAndForTheUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	cases := map[string]struct {
		do    func(*testing.T, string)
		asked bool // the user has to ask root
	}{
		"readable files":       {toRoot(0o644, "cost.json", "usage.json", ".freehold/claims/cost/fired", ".freehold/manifest.json"), false},
		"a readable lock":      {toRoot(0o644, ".freehold/cost.lock"), true},
		"files":                {toRoot(0, "cost.json", ".freehold/cost.lock", ".freehold/usage.pending", ".freehold/claims/cost/fired"), true},
		"the manifest":         {toRoot(0, ".freehold/manifest.json"), true},
		"the directory":        {toRoot(0, ".freehold"), true},
		"the group of another": {func(t *testing.T, dir string) { check(t, os.Chown(filepath.Join(dir, "cost.json"), -1, 0)) }, false},
		"no rights":            {all(chmod("cost.json", 0), chmod(".freehold/claims", 0), chmod(".freehold", 0o500), chmod(".", 0o500)), false},
		"others may write":     {all(chmod("cost.json", 0o666), chmod(".freehold/claims", 0o777)), false},
		"what was lost":        {all(write("cost.json", "{"), toRoot(0o644, "cost.json"), remove("usage.json"), remove(".freehold/cost.lock"), remove(".freehold/usage.pending"), write(".freehold/watchdog.lease.json", "{}")), false},
	}
	for name, c := range cases {
		for who, asUser := range map[string]bool{"root": false, "user": true} {
			t.Run(name+"/"+who, func(t *testing.T) {
				t.Parallel()
				dir := usersState(t)
				c.do(t, dir)
				left := cureAs(t, asUser, dir)
				if asks := len(left) > 0; asks != (c.asked && asUser) {
					t.Fatalf("findings without a command: %+v", left)
				}
				for _, f := range left {
					if !strings.Contains(f.Remedy, "let root give "+f.Path) && f.Code != "sidecar-unreadable" {
						t.Errorf("%s: %s", f.Code, f.Remedy)
					}
				}
				if len(left) > 0 {
					left = cureAs(t, false, dir) // root is asked, and looks too
				}
				for _, line := range []string{"add cost count 1", "add usage turns 1", "lease watchdog -- true"} {
					if out, err := inShell(t, true, dir, `FREEHOLD_DIR="$DIR" freehold `+line); err != nil {
						t.Errorf("%s: %v: %s", line, err, out)
					}
				}
				if out, err := exec.Command("find", dir, "!", "-user", fmt.Sprint(nobody)).Output(); len(left) > 0 || len(out) > 0 || err != nil {
					t.Errorf("%+v; another user owns %s (%v)", left, out, err)
				}
			})
		}
	}
}
