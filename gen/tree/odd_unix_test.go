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

// What is no file is in the way, is named and is not waited for.
func TestPlanNamesWhatIsNoFile(t *testing.T) {
	for what, make := range map[string]func(name string) error{
		"a directory": func(name string) error { return os.Mkdir(name, 0o777) },
		"a pipe":      func(name string) error { return syscall.Mkfifo(name, 0o666) },
		"a hole":      func(name string) error { return errors.Join(os.WriteFile(name, nil, 0o666), os.Truncate(name, 1<<40)) },
	} {
		for _, file := range []string{"freehold.go", "freehold_till_fields.go", "OWNERS.md", "till/internal/tillfile/tillfile.go"} {
			t.Run(what+" as "+filepath.Base(file), func(t *testing.T) {
				dir := lay(t, "-- go.mod --\nmodule example.com/corner\n-- owners/shop/owners.yaml --\n"+shopYAML)
				name := filepath.Join(dir, "owners/shop", file)
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := make(name); err != nil {
					t.Fatal(err)
				}
				m := find(t, dir)
				src, err := m.Load(filepath.Join(dir, "owners/shop/owners.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				want := "owners/shop/" + file + " is in the way, and Freehold did not generate it: move it"
				if _, err := m.Plan(src); errorText(err) != want {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			})
		}
	}
}

func TestPipesBesideGeneratedFilesAreNotWaitedFor(t *testing.T) {
	dir := lay(t, "-- go.mod --\nmodule example.com/corner\n-- owners/shop/owners.yaml --\n"+shopYAML)
	for _, name := range []string{"owners/shop/pipe.go", "pipe.json", "owners/owners.yaml"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, dir, "owners/shop/owners.yaml")
	if _, err := find(t, dir).Load(filepath.Join(dir, "owners/owners.yaml")); err == nil || !strings.HasSuffix(err.Error(), "owners.yaml is no regular file: move it") {
		t.Errorf("a pipe as a declaration: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, "owners/shop/owners.yaml"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if _, err := find(t, dir).Load(filepath.Join(dir, "owners/shop/owners.yaml")); err == nil || !strings.HasSuffix(err.Error(), "has 1099511627776 bytes, more than the 2097152 allowed: divide the state into several") {
		t.Errorf("a hole as a declaration: %v", err)
	}
}

// A generated file that is executable or that its user cannot read is changed
// (C-134); generating puts it right. Who is not root is told of one that cannot
// be read.
func TestPlanFindsChangedModes(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o111, 0o200, 0} {
		t.Run(mode.String(), func(t *testing.T) {
			dir := lay(t, "-- go.mod --\nmodule example.com/corner\n-- owners/shop/owners.yaml --\n"+shopYAML)
			apply(t, dir, "owners/shop/owners.yaml")
			name := filepath.Join(dir, "owners/shop/freehold.go")
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			if os.Geteuid() != 0 && mode&0o400 == 0 { // only root can tell that it is ours
				m := find(t, filepath.Join(dir, "owners/shop"))
				src, err := m.Load(filepath.Join(dir, "owners/shop/owners.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m.Plan(src); err == nil || !strings.Contains(err.Error(), "owners/shop/freehold.go: permission denied") {
					t.Errorf("got %v", err)
				}
				return
			}
			if _, p := plan(t, dir, "owners/shop/owners.yaml"); p.Summary() != "changed  owners/shop/freehold.go\n" {
				t.Errorf("got %q", p.Summary())
			}
			apply(t, dir, "owners/shop/owners.yaml")
			if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o111 != 0 || info.Mode().Perm()&0o400 == 0 {
				t.Errorf("generated with mode %v, %v", info.Mode(), err)
			}
		})
	}
	dir := lay(t, "-- go.mod --\nmodule example.com/corner\n-- owners/shop/owners.yaml --\n"+shopYAML)
	apply(t, dir, "owners/shop/owners.yaml")
	if err := os.Chmod(filepath.Join(dir, "owners/shop/freehold.go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, p := plan(t, dir, "owners/shop/owners.yaml"); !p.Current() {
		t.Errorf("who else may read it is nobody's business:\n%s", p.Summary())
	}
}

// What is generated is never written through a link: two states would have one
// file, or a home another's writer.
func TestPlanFollowsNoLinkToAFolder(t *testing.T) {
	for link, to := range map[string]string{"schema": "../other/schema", "till": "../other/till", "till/internal": "../../other/till/internal", "shoptest": t.TempDir()} {
		dir := lay(t, "-- go.mod --\nmodule example.com/corner\n-- owners/shop/owners.yaml --\n"+shopYAML)
		at := filepath.Join(dir, "owners/shop", link)
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "owners/other/till/internal"), 0o777), os.MkdirAll(filepath.Dir(at), 0o777), os.Symlink(to, at)); err != nil {
			t.Fatal(err)
		}
		m := find(t, dir)
		src, err := m.Load(filepath.Join(dir, "owners/shop/owners.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Plan(src); err == nil || !strings.HasPrefix(err.Error(), "owners/shop/"+link+" is a symbolic link") {
			t.Errorf("%s: got %v", link, err)
		}
	}
}
