package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/go-json-experiment/json"
)

// An unreadable file is most likely well: the remedy of doctor keeps it. Root
// may read everything, so this takes another user.
func TestWhatMayNotBeReadIsKeptByItsRemedy(t *testing.T) {
	for _, name := range []string{
		"reset.json", ".freehold", ".freehold/manifest.json", ".freehold/claims", ".freehold/claims/reset", ".freehold/claims/reset/fired",
		".freehold/tool.pending", ".freehold/tool.lock", ".freehold/quarantine",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			program := commandFor(t, dir)
			owners := filepath.Join(filepath.Dir(dir), "owners.yaml")
			if err := os.WriteFile(owners, []byte(guarded), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			must(t, "state", "init", "--dir", dir, "--owners", owners)
			overwrite("reset.json", "{")(t, dir)
			must(t, "quarantine", "reset", "--dir", dir)
			must(t, "set", "reset", "f=1", "--dir", dir)
			must(t, "claim", "reset", "fired", "--dir", dir)
			must(t, "add", "tool", "n", "1", "--dir", dir)
			giveAway(t, dir)
			statetest.Damaged(dir, "directory-unsafe")
			want := asNobody(t, program, "view", "--json", "--dir", dir)
			if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
				t.Fatal(err)
			}
			if told := asNobody(t, program, "view", "--json", "--dir", dir); strings.Contains(told.Stdout+told.Stderr, "by hand") {
				t.Errorf("view says to remove what may be well: %+v", told)
			}
			for range 3 { // one remedy may uncover another fault
				obeyed(t, program, dir)
			}
			if got := asNobody(t, program, "view", "--json", "--dir", dir); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

const guarded = `state: runtime
owners:
  reset:
    fields:
      f: {type: int}
      fired: {type: time, kind: once}
  tool:
    busy: {then: defer}
    fields:
      n: {type: int, kind: counter}
`

// obeyed runs the commands that doctor tells the bound user to run.
func obeyed(t *testing.T, program, dir string) {
	t.Helper()
	got := asNobody(t, program, "doctor", "--json", "--dir", dir)
	var r struct {
		Findings []struct {
			Code    string `json:"code"`
			Says    string `json:"says"`
			Remedy  string `json:"remedy"`
			Command bool   `json:"command"`
		} `json:"findings"`
	}
	if err := json.Unmarshal([]byte(got.Stdout), &r); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	for _, f := range r.Findings {
		if !f.Command {
			t.Errorf("%s: no command: %s: %s", f.Code, f.Says, f.Remedy)
			continue
		}
		sh := exec.Command("sh", "-c", f.Remedy)
		sh.Dir, sh.Env = "/", append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		if os.Geteuid() == 0 {
			sh.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		out, err := sh.CombinedOutput()
		t.Logf("%s: %s: %v\n%s", f.Code, f.Remedy, err, out)
	}
}
