package reader_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

func TestAnOwnerAddedMeanwhileIsSeen(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	r := s.open()
	view(t, r)
	more := declaration()
	more.Owners["extra"] = schema.Owner{Fields: map[string]schema.Field{"added": {Type: schema.TypeInt}}}
	more.Owners["cost"].Fields["late"] = schema.Field{Type: schema.TypeInt}
	dir, err := statedir.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := dir.Upgrade(context.Background(), more, time.Minute); err != nil {
		t.Fatal(err)
	}
	v := view(t, r)
	if got := ownerNames(v); got != "cost extra reset watchdog" {
		t.Errorf("owners: %s", got)
	}
	if _, err := v.Field("late").Raw(); !errors.Is(err, reader.ErrUnset) {
		t.Errorf("an added field: %v", err)
	}
	if v.Consistency() != reader.Atomic || turns(t, v) != 1 {
		t.Errorf("the rest is %s, %d", v.Consistency(), turns(t, v))
	}
	s.commit("extra", "added", "-5")
	if n, err := reader.FieldOf(view(t, r), "added", schema.Int).Get(); n != -5 || err != nil {
		t.Errorf("the added owner's field: %d, %v", n, err)
	}
}

// A program that was built from a newer declaration than the state's reads what
// it declares as unset; one that was built from another declaration is told so.
func TestOpenAsKnowsTheProgramsDeclaration(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	newer := declaration()
	newer.Owners["extra"] = schema.Owner{Fields: map[string]schema.Field{"added": {Type: schema.TypeInt}}}
	r, err := reader.OpenAs(s.dir, newer)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v := view(t, r)
	if n, err := reader.FieldOf(v, "added", schema.Int).OrUnset(3); n != 3 || err != nil {
		t.Errorf("a field that only the program declares: %d, %v", n, err)
	}
	if plain := view(t, s.open()); plain.ID() != v.ID() {
		t.Errorf("readers of two builds call one cut %s and %s", plain.ID(), v.ID())
	}
	for what, change := range map[string]func(*schema.Declaration){
		"state": func(d *schema.Declaration) { d.State = "another" },
		"type":  func(d *schema.Declaration) { d.Owners["cost"].Fields["turns"] = schema.Field{Type: schema.TypeString} },
		"owner": func(d *schema.Declaration) {
			d.Owners["reset"].Fields["turns"] = d.Owners["cost"].Fields["turns"]
			delete(d.Owners["cost"].Fields, "turns")
		},
	} {
		other := declaration()
		change(other)
		if r, err := reader.OpenAs(s.dir, other); !errors.Is(err, schema.ErrDeclaration) {
			t.Errorf("another %s: got %v, %v", what, r, err)
		}
	}
}

func TestAReplacedStateIsNoticed(t *testing.T) {
	s := newState(t, declaration())
	r := s.open()
	view(t, r)
	if err := os.Rename(s.dir, s.dir+".moved"); err != nil {
		t.Fatal(err)
	}
	if v, err := r.View(context.Background()); v != nil || !errors.Is(err, store.Moved) {
		t.Errorf("moved away: got %v, %v", v, err)
	}
	if err := store.Create(s.dir, declaration()); err != nil {
		t.Fatal(err)
	}
	if v, err := r.View(context.Background()); v != nil || !errors.Is(err, store.Moved) {
		t.Errorf("replaced: got %v, %v", v, err)
	}
}

func TestABrokenManifestIsAnErrorAndHeals(t *testing.T) {
	s := newState(t, declaration())
	s.commit("cost", "turns", "1")
	r := s.open()
	view(t, r)
	path := filepath.Join(s.dir, ".freehold", "manifest.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{", `{"format":99}`} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if v, err := r.View(context.Background()); v != nil || !errors.Is(err, store.ErrInvalidManifest) {
				t.Errorf("manifest %q: got %v, %v", bad, v, err)
			}
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if v := view(t, r); turns(t, v) != 1 || v.Consistency() != reader.Atomic {
		t.Errorf("after that: %d, %s", turns(t, v), v.Consistency())
	}
}

func TestNoStateNoReader(t *testing.T) {
	if r, err := reader.Open(t.TempDir()); !errors.Is(err, store.NoState) {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestAClosedReaderSaysSo(t *testing.T) {
	r := newState(t, declaration()).open()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if v, err := r.View(context.Background()); v != nil || !errors.Is(err, reader.ErrClosed) {
		t.Errorf("got %v, %v", v, err)
	}
}

// A reader must work where it may not write, and change nothing where it may.
//
// Case 1.
func TestReadersWriteNothing(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "sidecar-invalid")
	s.commit("cost", "turns", "1")
	s.put("reset", []byte("damaged"))
	before := tree(t, s.dir)
	for _, dir := range []string{s.dir, filepath.Join(s.dir, ".freehold")} {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	}
	r := s.open()
	v := view(t, r)
	if _, err := v.MarshalJSON(); err != nil {
		t.Error(err)
	}
	r.Close()
	if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// tree lists the files below dir with what changes when they are written.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files[path] = fmt.Sprint(info.Size(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestNoFileStaysOpenBetweenViews(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "sidecar-invalid")
	s.commit("cost", "turns", "1")
	s.put("reset", []byte("damaged"))
	before := descriptors(t)
	r, err := reader.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	opened := descriptors(t)
	view(t, r)
	s.commit("cost", "turns", "2")
	view(t, r)
	if after := descriptors(t); after != opened {
		t.Errorf("%d descriptors before a view, %d after it", opened, after)
	}
	r.Close()
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before Open, %d after Close", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
