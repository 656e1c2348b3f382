package sidecar

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

func init() { roles["instance"] = roleInstance }

func instanced() *schema.Declaration {
	d := declaration()
	d.Instances.By = "session_id"
	return d
}

// roleInstance opens cost of an instance, making it if need be, and adds 1.
func roleInstance(args []string) error {
	w, err := OpenInstance(context.Background(), args[0], args[1], instanced(), "cost", &Options{Create: true, Wait: time.Minute})
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err = w.Update(context.Background(), addTurns(1)); err != nil {
		return err
	}
	fmt.Print(w.manifest.StateID)
	return nil
}

func instancePath(t *testing.T, dir, id string) string {
	t.Helper()
	name, err := schema.InstanceDir(id)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".id" {
			names = append(names, e.Name())
		}
	}
	return names
}

// Of processes that create one instance at once, one does; all of them work in
// it, and nothing else is left.
func TestProcessesMakeOneInstance(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "sessions")
	const id, processes = "Sitzung 1", 12
	var wg sync.WaitGroup
	var mu sync.Mutex
	states := map[string]int{}
	for range processes {
		cmd := roleProcess(t, "instance", dir, id)
		wg.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			states[string(out)]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(states) != 1 {
		t.Errorf("they worked in %d states: %v", len(states), states)
	}
	path := instancePath(t, dir, id)
	if got := stored(t, path, "turns"); got != fmt.Sprint(processes) {
		t.Errorf("turns is %s, want %d", got, processes)
	}
	if diff := cmp.Diff([]string{".freehold", filepath.Base(path)}, namesIn(t, dir)); diff != "" {
		t.Errorf("what is in the directory (-want +got):\n%s", diff)
	}
}

// Cases 69, 71: the directory of one instance is never taken for another's.
func TestAnInstanceIsOpenedUnderItsOwnNameOnly(t *testing.T) {
	dir := t.TempDir()
	for i, id := range []string{"a", "b", "A"} {
		w, err := OpenInstance(t.Context(), dir, id, instanced(), "cost", &Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		update(t, w, setNote(fmt.Sprint("note ", i)))
		w.Close()
	}
	swapped := filepath.Join(dir, "swap")
	for _, move := range [][2]string{{"a", "swap"}, {"b", "a"}, {"swap", "b"}} {
		if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"a", "b"} {
		_, err := OpenInstance(t.Context(), dir, id, instanced(), "cost", &Options{Create: true})
		wantError(t, err, store.Misplaced, "is taken")
		_, err = Open(t.Context(), filepath.Join(dir, id), nil, "cost", nil)
		wantError(t, err, store.Misplaced)
	}
	if got := stored(t, instancePath(t, dir, "A"), "note"); got != `"note 2"` {
		t.Errorf("the note of A is %s", got)
	}
	if _, err := os.Lstat(swapped); err == nil {
		t.Error("the swap is still there")
	}
}

func TestNoInstanceIsMadeUnasked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	if err := Create(dir, instanced()); err != nil {
		t.Fatal(err)
	}
	wantError(t, Create(dir, instanced()), store.Exists)
	_, err := OpenInstance(t.Context(), dir, "a", instanced(), "cost", nil)
	wantError(t, err, store.NoState, `there is no instance "a"`)
	for _, id := range []string{"", "a\nb", "\xff"} {
		_, err := OpenInstance(t.Context(), dir, id, instanced(), "cost", &Options{Create: true})
		wantError(t, err, schema.ErrInstance)
	}
	_, err = Open(t.Context(), dir, instanced(), "cost", &Options{Create: true})
	wantError(t, err, store.HasInstances, "name the instance")
	_, err = OpenInstance(t.Context(), newState(t), "a", instanced(), "cost", &Options{Create: true})
	wantError(t, err, store.NoInstances, "use another directory")
	other := instanced()
	other.State = "other"
	wantError(t, CreateInstance(dir, "a", other), ErrDeclaration)
	if diff := cmp.Diff([]string{".freehold"}, namesIn(t, dir)); diff != "" {
		t.Errorf("what is in the directory (-want +got):\n%s", diff)
	}
}

// What a stranger put in the place of an instance is neither used nor replaced.
func TestNothingTakesThePlaceOfAStranger(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "mine"), 0o700) },
		"file":      func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"link":      func(path string) error { return os.Symlink("/", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = OpenInstance(t.Context(), dir, "a", instanced(), "cost", &Options{Create: true})
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error that names %s", err, path)
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) {
				t.Errorf("it was replaced (%v)", err)
			}
			for _, name := range namesIn(t, dir) {
				if strings.HasPrefix(name, ".freehold-new-") {
					t.Errorf("%s was left", name)
				}
			}
		})
	}
}
