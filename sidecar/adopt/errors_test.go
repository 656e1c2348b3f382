package adopt

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar"
)

var said = errorstest.Golden{
	Update: update,
	Also:   []string{"legacy_errors.txt"},
	Untold: map[string]string{
		"it grew past the %d bytes allowed": "wants a writer that appends 16 MiB between two calls; the bound itself is told",
	},
}

// TestErrorsSayWhatToDo provokes every error of the package.
func TestErrorsSayWhatToDo(t *testing.T) {
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{"a": {Fields: spec{
		"at": moment, "share": {Type: schema.TypeFloat}, "many": {Type: schema.TypeList, Of: &number}, "n": {Type: schema.TypeInt, Legacy: "count"},
		"seen": {Kind: schema.Map, Keys: true, Value: &number}, "long": {Type: schema.TypeList, Of: &text},
	}}}}
	for how, file := range map[string]string{
		"an instant without offset": `{"at":"2026-08-11T09:12:44"}`,
		"a number that is rounded":  `{"share":9007199254740993}`,
		"an element that is null":   `{"many":[1,null]}`,
		"two keys for one field":    `{"count":1,"n":2}`,
		"a hostile key":             `{"seen":{"\u001b[2J\u202e":1}}`,
		"a hostile value":           `{"seen":{"a\u202eb":"\u001b[2J"}}`,
		"too many keys":             `{"seen":{` + strings.TrimSuffix(strings.Join(manyKeys(schema.MaxKeys+1), ","), ",") + `}}`,
		"too much for a sidecar":    `{"long":["` + strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 1000)+`","`, 1100), `,"`) + `]}`,
	} {
		l, err := Parse("runtime.json", []byte(file))
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		_, err = l.Plan(d)
		said.Same(t, "misfit: "+how, err)
	}
}

func manyKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = `"k` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strconv.Itoa(i) + `":1`
	}
	return keys
}

// TestErrorsSayWhatToDoOfFiles provokes the errors of the legacy file.
func TestErrorsSayWhatToDoOfFiles(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	must(os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "vast"), nil, 0o600))
	must(os.Truncate(filepath.Join(dir, "vast"), MaxSize+1))
	for _, name := range []string{"absent", "dangling", "folder", "vast"} {
		_, err := Read(t.Context(), filepath.Join(dir, name))
		said.Same(t, "read: "+name, err, dir, "DIR")
	}
	for name, now := range map[string]string{"removed": "", "rewritten": `{"n": 1, "\u001b[2J": 2}`, "touched": `{"n":  1}`} {
		l, err := Parse(legacyFile(t, `{"n": 1}`), []byte(`{"n": 1}`))
		must(err)
		if now == "" {
			must(os.Remove(l.Path))
		} else {
			must(os.WriteFile(l.Path, []byte(now), 0o600))
		}
		_, err = l.changed()
		said.Same(t, "meanwhile: "+name, err, filepath.Dir(l.Path), "DIR")
	}
}

// TestErrorsSayWhatToDoOfStates provokes the errors of the state.
func TestErrorsSayWhatToDoOfStates(t *testing.T) {
	dir, p := newState(t, usage()), planned(t, usage(), `{"deploy": {"created_by": "hub", "use_count": 1}}`)
	Damaged(dir, "sidecar-foreign")
	inTheWay := filepath.Join(dir, "creator.json")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := p.Apply(t.Context(), dir, nil)
	said.Same(t, "apply: a folder in the way", err, dir, "DIR")
	_, err = p.Apply(t.Context(), dir, &Options{DryRun: true})
	said.Same(t, "dry run: a folder in the way", err, dir, "DIR")
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "creator", sidecar.Op{Field: "skills", Key: "deploy", Verb: schema.VerbInsert})
	text, err := os.ReadFile(inTheWay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inTheWay, []byte(strings.Replace(string(text), "deploy", "depl0y", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = p.Apply(t.Context(), dir, nil)
	said.Same(t, "apply: an edited sidecar", err, dir, "DIR")
	_, err = p.Apply(t.Context(), dir, &Options{DryRun: true})
	said.Same(t, "dry run: an edited sidecar", err, dir, "DIR")
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
