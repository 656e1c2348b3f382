//go:build unix

package tree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe, a folder or a huge file in the way is named and not read.
func TestPlanNamesWhatIsNoFile(t *testing.T) {
	for what, make := range map[string]func(name string) error{
		"a directory": func(name string) error { return os.Mkdir(name, 0o777) },
		"a pipe":      func(name string) error { return syscall.Mkfifo(name, 0o666) },
		"a hole":      func(name string) error { return errors.Join(os.WriteFile(name, nil, 0o666), os.Truncate(name, 1<<40)) },
	} {
		for _, file := range []string{"freehold.go", "freehold_till_fields.go", "OWNERS.md", "till/internal/tillfile/tillfile.go"} {
			t.Run(what+" as "+filepath.Base(file), func(t *testing.T) {
				dir := lay(t, shopModule)
				name := filepath.Join(dir, "owners/shop", file)
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := make(name); err != nil {
					t.Fatal(err)
				}
				want := "owners/shop/" + file + " is in the way, and Freehold did not generate it: move it"
				if _, _, err := tryPlan(t, dir, "owners/shop/owners.yaml"); errorText(err) != want {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			})
		}
	}
}

func TestPipesBesideGeneratedFilesAreNotWaitedFor(t *testing.T) {
	dir := lay(t, shopModule)
	for _, name := range []string{"owners/shop/pipe.go", "pipe.json", "owners/owners.yaml"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, dir, "owners/shop/owners.yaml")
}

// A generated file that is executable or that its user cannot read is changed
// (C-134); generating mends its permissions. Only root can read a file without
// permission and know that Freehold generated it.
func TestPlanFindsChangedModes(t *testing.T) {
	for mode, changed := range map[os.FileMode]bool{0o755: true, 0o111: true, 0o200: true, 0: true, 0o600: false} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := lay(t, shopModule)
			apply(t, dir, "owners/shop/owners.yaml")
			name := filepath.Join(dir, "owners/shop/freehold.go")
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			_, p, err := tryPlan(t, dir, "owners/shop/owners.yaml")
			if os.Geteuid() != 0 && mode&0o400 == 0 {
				if err == nil || !strings.Contains(err.Error(), "owners/shop/freehold.go: permission denied") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || (summary(p) == "changed owners/shop/freehold.go\n") != changed {
				t.Errorf("got %q, %v", summary(p), err)
			}
			apply(t, dir, "owners/shop/owners.yaml")
			if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o111 != 0 || info.Mode().Perm()&0o400 == 0 {
				t.Errorf("generated with mode %v, %v", info.Mode(), err)
			}
		})
	}
}

// No file is written through a link: two states would share one file, or a home
// have another owner's writer.
func TestPlanFollowsNoLinkToAFolder(t *testing.T) {
	outside := t.TempDir()
	for link, to := range map[string]string{
		"owners/shop/schema": "../other/schema", "owners/shop/till": "../other/till", "owners/shop/till/internal": "../../other/till/internal",
		"owners/shop/shoptest": outside, "cmd": outside,
	} {
		dir := lay(t, shopModule)
		at := filepath.Join(dir, link)
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "owners/other/till/internal"), 0o777), os.MkdirAll(filepath.Dir(at), 0o777), os.Symlink(to, at)); err != nil {
			t.Fatal(err)
		}
		_, _, err := tryPlan(t, dir, "owners/shop/owners.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), link+" is a symbolic link") {
			t.Errorf("%s: got %v", link, err)
		}
		if link == "owners/shop/schema" {
			said.Same(t, "plan: a link for a folder", err)
		}
	}
	if files := contents(t, outside); len(files) > 0 {
		t.Errorf("%v were written outside", files)
	}
}
