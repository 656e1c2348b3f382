package reader_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/google/go-cmp/cmp"
)

const vectorDir = "testdata/vectors"

// The test data is what the generator makes, so that a change of the format
// shows in it. With -update it is written anew.
func TestVectorsAreWhatTheirMakerMakes(t *testing.T) {
	for _, v := range vectors() {
		t.Run(v.name, func(t *testing.T) {
			made := t.TempDir()
			v.makeIn(t, made)
			kept := filepath.Join(vectorDir, v.name, "state")
			if *update {
				if err := os.RemoveAll(kept); err != nil {
					t.Fatal(err)
				}
				if err := os.CopyFS(kept, os.DirFS(made)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(filesIn(t, kept), filesIn(t, made)); diff != "" {
				t.Errorf("%s differs from what is made (-kept +made); run go test -update if that is meant:\n%s", kept, diff)
			}
		})
	}
}

func (v vector) makeIn(t *testing.T, dir string) {
	d := schema.Declaration{State: "vector", Owners: v.owners}
	if v.instance != "" {
		d.Instances = schema.Instances{By: "name"}
		name, err := schema.InstanceDir(v.instance)
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(dir, name)
	}
	if err := d.Sound(); err != nil {
		t.Fatal(err)
	}
	m := &maker{t, dir, &schema.Manifest{Format: schema.ManifestFormat, StateID: vectorState, Instance: v.instance, Declaration: d}, map[string]*document.Document{}}
	v.make(m)
	m.settle()
}

// filesIn returns the files below dir.
func filesIn(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestVectorsGiveTheirViews(t *testing.T) {
	for _, v := range vectors() {
		t.Run(v.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(vectorDir, v.name, "state"))); err != nil {
				t.Fatal(err)
			}
			at := v.place(t, dir)
			revive(t, dir, at)
			r, err := v.open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			raw, err := view(t, r).MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := json.Indent(&text, raw, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("vectors", v.name, "view.json"), strings.ReplaceAll(text.String(), at, "STATE")+"\n")
		})
	}
}

// place returns the directory of the vector's state or instance.
func (v vector) place(t *testing.T, dir string) string {
	if v.instance == "" {
		return dir
	}
	name, err := schema.InstanceDir(v.instance)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func (v vector) open(dir string) (*reader.Reader, error) {
	if v.instance == "" {
		return reader.Open(dir)
	}
	return reader.OpenInstance(dir, v.instance, nil)
}

// revive gives the copy of a vector what Git does not keep: the modes, and in
// the manifest the true inode numbers of the directories of claims.
func revive(t *testing.T, dir, state string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if e.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, ".freehold", "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := schema.ParseManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	for owner := range m.Claims {
		m.Claims[owner] = inode(t, filepath.Join(state, ".freehold", "claims", owner))
	}
	for name := range m.Locks {
		if path := filepath.Join(state, ".freehold", name); fileThere(path) {
			m.Locks[name] = inode(t, path)
		}
	}
	if text, err = m.Marshal(); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// vectorCopies returns copies of all vectors' states, by name, with what Git does
// not keep.
func vectorCopies(t *testing.T) map[string]string {
	copies := map[string]string{}
	for _, v := range vectors() {
		copies[v.name] = filepath.Join(t.TempDir(), "state")
		if err := os.CopyFS(copies[v.name], os.DirFS(filepath.Join(vectorDir, v.name, "state"))); err != nil {
			t.Fatal(err)
		}
		revive(t, copies[v.name], v.place(t, copies[v.name]))
	}
	return copies
}

func wantPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 here; .ci/run installs one")
	}
}

// A reader in another language, of one file and its standard library, shows that
// the documentation is enough.
func TestPythonReaderPassesTheVectors(t *testing.T) {
	wantPython(t)
	copies := vectorCopies(t)
	for _, instance := range []string{"", "Ärger/1"} {
		var all []vector
		args := []string{"-B", filepath.Join("testdata", "python", "freehold.py")}
		if instance != "" {
			args = append(args, "--instance", instance)
		}
		for _, v := range vectors() {
			if v.instance == instance {
				all, args = append(all, v), append(args, copies[v.name])
			}
		}
		out, err := exec.Command("python3", args...).Output()
		if exit, ok := err.(*exec.ExitError); ok {
			t.Fatalf("%v\n%s", err, exit.Stderr)
		} else if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(out), "\n")
		if len(lines) != len(all)+1 {
			t.Fatalf("%d vectors gave %d lines:\n%s", len(all), len(lines)-1, out)
		}
		for i, v := range all {
			t.Run(v.name, func(t *testing.T) {
				want, err := os.ReadFile(filepath.Join(vectorDir, v.name, "view.json"))
				if err != nil {
					t.Fatal(err)
				}
				got := strings.ReplaceAll(lines[i], v.place(t, copies[v.name]), "STATE")
				if diff := cmp.Diff(viewOf(t, string(want)), viewOf(t, got)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// viewOf takes a view's JSON apart. Numbers stay in their digits; texts about
// what is wrong are for people, so that only whether there is one counts.
func viewOf(t *testing.T, text string) (view map[string]any) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&view); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	owners, _ := view["owners"].(map[string]any)
	for _, o := range owners {
		status, _ := o.(map[string]any)
		for _, name := range []string{"error", "pending_error"} {
			if _, ok := status[name]; ok {
				status[name] = "some text"
			}
		}
	}
	return view
}

func fileThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
