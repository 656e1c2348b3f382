package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A hook that goes around Freehold brings an old file back, as a restored
// backup or a careless copy does.
func TestDemoFailsIfAnOldSidecarComesBack(t *testing.T) {
	for name, program := range map[string]string{"reset.json": sessionstart, "cost.json": stop} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			var told strings.Builder
			o.Print = func(text string) error { told.WriteString(text); return nil }
			var old []byte
			o.tamper = func(n int, state string) (err error) {
				file := filepath.Join(state, name)
				switch n {
				case waves / 2:
					old, err = os.ReadFile(file)
				case waves:
					err = errors.Join(os.WriteFile(file+".old", old, 0o600), os.Rename(file+".old", file))
				}
				return err
			}
			report, err := Play(t.Context(), o)
			if !errors.Is(err, ErrBroken) {
				t.Fatalf("the demo ended with %v, want %v", err, ErrBroken)
			}
			lost := map[string]int{}
			for _, h := range report.Freehold.Hooks {
				lost[h.Program] = h.Lost
			}
			if lost[program] == 0 || lost[program] != report.Freehold.Lost {
				t.Errorf("lost %v, want only updates of %s", lost, program)
			}
			if want := fmt.Sprintf("Freehold LOST %d of 100 updates", report.Freehold.Lost); !strings.Contains(told.String(), want) {
				t.Errorf("the story does not say %q:\n%s", want, &told)
			}
			if len(report.Refusals) > 0 {
				t.Error("the story goes on as if nothing had happened")
			}
			if !strings.Contains(err.Error(), report.Dir) {
				t.Errorf("the error does not name the kept directory: %v", err)
			}
		})
	}
}

func TestDemoIsPlayedOnlyInItsOwnModule(t *testing.T) {
	module := func(t *testing.T, text string) string {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	for name, test := range map[string]struct{ gomod, path, want string }{
		"another module": {"module example.com/app\n", os.Getenv("PATH"), "in a clone of github.com/freehold-dev/freehold"},
		"no module":      {"", os.Getenv("PATH"), "in a clone of github.com/freehold-dev/freehold"},
		"no toolchain":   {"module " + modulePath + "\n", "", "https://go.dev/dl"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			o.From = module(t, test.gomod)
			t.Setenv("PATH", test.path)
			_, err := Play(t.Context(), o)
			if !errors.Is(err, ErrElsewhere) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the demo ended with %v, want %v and %q", err, ErrElsewhere, test.want)
			}
			nothingLeft(t)
		})
	}
}

func TestDemoThatCannotBeginLeavesNothingBehind(t *testing.T) {
	o := options(t)
	o.From = t.TempDir()
	if err := os.WriteFile(filepath.Join(o.From, "go.mod"), []byte("module "+modulePath+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Play(t.Context(), o); err == nil {
		t.Error("the demo was played without the hooks")
	}
	nothingLeft(t)
}

// nothingLeft checks that there is no demo in the directory for temporary
// files.
func nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
