package store

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// ownersState makes a state in which the fields of guard depend on those of
// cost, and guard attaches values to the keys that cost decides.
func ownersState(t *testing.T) (*Store, *schema.Manifest) {
	t.Helper()
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"cost": {Fields: map[string]schema.Field{
			"turns":  {Type: schema.TypeUint, Kind: schema.Counter},
			"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"uses": {Type: schema.TypeUint, Kind: schema.Counter}}},
		}},
		"guard": {Fields: map[string]schema.Field{
			"seen":   {Type: schema.TypeUint, DependsOn: []string{"turns"}},
			"fired":  {Type: schema.TypeTime, Kind: schema.Once},
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{"pinned": {Type: schema.TypeBool}}},
		}},
	}}
	return stateOf(t, d)
}

// stateOf makes and opens a state with the declaration d.
func stateOf(t *testing.T, d *schema.Declaration) (*Store, *schema.Manifest) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, d); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	m, err := s.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// said holds the errors of owners and once fields.
var said = errorstest.Golden{
	Update: flag.Bool("update", false, "write the golden files anew"),
	Wraps:  []string{"../internal/statedir", "../internal/dir", "../internal/status", "../internal/document", "../internal/pending", "../../schema"},
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }

// sidecarText returns the sidecar of owner at a revision, with turns of that
// number.
func sidecarText(t *testing.T, owner, state string, revision uint64, change func(*document.Document, Provenance)) []byte {
	t.Helper()
	doc, at := document.New(owner, state), time.Unix(1e9, 0).UTC()
	v := Version{Epoch: 1 << 50, Revision: revision, Nonce: process.NewNonce()}
	doc.Commit(v, at, Writer{Program: "test", Identity: process.Self()})
	if change != nil {
		change(doc, Provenance{Version: v, At: at, Program: "test", PID: os.Getpid()})
	}
	text, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, d *Store, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.Path(), name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func turns(doc *document.Document, by Provenance) { doc.Set("turns", []byte("3"), by) }

func TestOwnerHasAStatusAndARemedy(t *testing.T) {
	good := func(t *testing.T, m *schema.Manifest) []byte {
		return sidecarText(t, "cost", m.StateID, 1, turns)
	}
	edit := func(old, new string) func(*testing.T, *schema.Manifest) []byte {
		return func(t *testing.T, m *schema.Manifest) []byte {
			return bytes.Replace(good(t, m), []byte(old), []byte(new), 1)
		}
	}
	for name, c := range map[string]struct {
		text   func(*testing.T, *schema.Manifest) []byte
		status Status
		remedy string
		says   string
	}{
		"missing":         {nil, Missing, "", ""},
		"whole":           {good, OK, "", ""},
		"torn":            {func(t *testing.T, m *schema.Manifest) []byte { return good(t, m)[:40] }, Invalid, "mend the file; or quarantine cost", "byte 40"},
		"edited":          {edit(`"turns":3`, `"turns":4`), Foreign, "look at it first; or accept cost", ""},
		"a wrong value":   {edit(`"turns":3`, `"turns":"x"`), Foreign, "mend the file, then accept it; or quarantine cost", "it cannot be accepted: field turns: invalid value"},
		"another's field": {edit(`"turns":3`, `"seen":3`), Foreign, "mend the file, then accept it; or quarantine cost", "it belongs to owner guard"},
		"another owner's": {func(t *testing.T, m *schema.Manifest) []byte { return sidecarText(t, "guard", m.StateID, 1, turns) }, Foreign, "look at it first; or accept cost", `owner "guard"`},
		"another state's": {func(t *testing.T, m *schema.Manifest) []byte {
			return sidecarText(t, "cost", strings.Repeat("0", 26), 1, turns)
		}, Foreign, "look at it first; or accept cost", "belongs to the state"},
		"removed": {func(t *testing.T, m *schema.Manifest) []byte {
			m.Removed = []string{"field gone"}
			return edit(`"turns":3`, `"turns":3,"gone":3`)(t, m)
		}, Foreign, "mend the file, then accept it; or quarantine cost", "removed or renamed"},
		"newer":     {edit(`"format":1`, `"format":2`), Newer, statedir.UseNewer, "format 2"},
		"too large": {func(*testing.T, *schema.Manifest) []byte { return make([]byte, document.MaxSize+1) }, Invalid, "quarantine cost", "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			d, m := ownersState(t)
			if c.text != nil {
				write(t, d, "cost.json", c.text(t, m))
			}
			o := d.Owner(m, "cost")
			if o.Status != c.status || RemedyOf(o.Err).String() != c.remedy || (o.Err == nil) != (c.says == "" && c.remedy == "") {
				t.Errorf("got %s, %v with the remedy %q", o.Status, o.Err, RemedyOf(o.Err))
			}
			if o.Err != nil && (!errors.Is(o.Err, c.status) || !strings.HasPrefix(o.Err.Error(), o.Path+": ") || !strings.Contains(o.Err.Error(), c.says)) {
				t.Errorf("the error is %v", o.Err)
			}
			if o.Err != nil {
				said.Same(t, "owner: "+name, o.Err, d.Path(), "STATE")
			}
			if (o.Document() == nil) != (o.Err != nil) || o.Version.IsZero() == (c.status == OK) {
				t.Errorf("got %v at version %v", o.Document(), o.Version)
			}
		})
	}
}

// The error of a torn sidecar names a whole one that a killed commit left, for every
// command, and the remedy puts that in its place; a staged one of another owner, or
// of a live writer, is not named.
func TestAWholeSidecarBesideATornOneIsNamed(t *testing.T) {
	d, m := ownersState(t)
	whole := sidecarText(t, "cost", m.StateID, 7, turns)
	write(t, d, "cost.json", whole[:40])
	write(t, d, ".cost.json770000000000001", sidecarText(t, "guard", m.StateID, 8, turns))
	if o := d.Owner(m, "cost"); RemedyOf(o.Err).Verb != status.Quarantine {
		t.Errorf("for another owner's: %v", RemedyOf(o.Err))
	}
	write(t, d, ".cost.json770000000000000", whole)
	o := d.Owner(m, "cost")
	want := []string{"mv", "--", filepath.Join(d.Path(), ".cost.json770000000000000"), o.Path}
	if !slices.Equal(RemedyOf(o.Err).Tool, want) || !strings.Contains(o.Err.Error(), ".7.") {
		t.Errorf("got %v with the remedy %v, want %v", o.Err, RemedyOf(o.Err), want)
	}
	doc, err := document.Decode(whole)
	if err != nil {
		t.Fatal(err)
	}
	said.Same(t, "owner: torn, with a whole one beside it", o.Err, d.Path(), "STATE", doc.Version.String(), "VERSION")
	l, err := d.dir.OpenLock(m, FilesOf("cost").Lock)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Acquire(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if o := d.Owner(m, "cost"); RemedyOf(o.Err).Verb != status.Quarantine {
		t.Errorf("while a process has the lock: %v", RemedyOf(o.Err))
	}
}

func TestOwnerNotOfAPlainFileIsUnreadable(t *testing.T) {
	d, m := ownersState(t)
	if err := os.Mkdir(filepath.Join(d.Path(), "cost.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if o := d.Owner(m, "cost"); o.Status != Unreadable || !errors.Is(o.Err, ErrIrregular) || RemedyOf(o.Err).Verb != status.Quarantine {
		t.Errorf("got %s: %v", o.Status, o.Err)
	}
}

func TestOnceFieldIsNotAccepted(t *testing.T) {
	d, m := ownersState(t)
	write(t, d, "guard.json", []byte(`{"fired":"2026-01-01T00:00:00Z"}`))
	o := d.Owner(m, "guard")
	said.Same(t, "owner: a once field in it", o.Err, d.Path(), "STATE")
	if RemedyOf(o.Err).Verb != status.Quarantine {
		t.Errorf("got the remedy %q", RemedyOf(o.Err))
	}
}

// An owner that was attached to keys which another owner has not created
// cannot be accepted.
func TestAcceptedKeysAreThoseOfTheirOwner(t *testing.T) {
	d, m := ownersState(t)
	write(t, d, "guard.json", []byte(`{"skills":{"deploy":{"pinned":true}}}`))
	o := d.Owner(m, "guard")
	said.Same(t, "owner: a key that does not exist", o.Err, d.Path(), "STATE")
	if o.Status != Invalid || !strings.Contains(o.Err.Error(), `field skills: key "deploy": no such key`) || RemedyOf(o.Err).Verb != status.Quarantine {
		t.Errorf("got %s: %v", o.Status, o.Err)
	}
	write(t, d, "cost.json", sidecarText(t, "cost", m.StateID, 1, func(doc *document.Document, by Provenance) {
		doc.SetRows("skills", []Row{{Key: "deploy", Value: []byte(`{}`), Born: by.Version}}, by)
	}))
	if o := d.Owner(m, "guard"); RemedyOf(o.Err).Verb != status.Accept {
		t.Errorf("got %s: %v, with the remedy %q", o.Status, o.Err, RemedyOf(o.Err))
	}
	write(t, d, "cost.json", []byte("{"))
	said.Same(t, "owner: the owner of the keys cannot be used", d.Owner(m, "guard").Err, d.Path(), "STATE")
	if o := d.Owner(m, "guard"); RemedyOf(o.Err).Verb != status.Quarantine || !strings.Contains(o.Err.Error(), "owner cost, which decides the keys, cannot be used") {
		t.Errorf("got %s: %v", o.Status, o.Err)
	}
}

func TestSourceDecodesChangedBytesAlone(t *testing.T) {
	d, m := ownersState(t)
	s := d.Source(m, "cost")
	if o := s.Read(); o.Status != Missing || s.Look() {
		t.Errorf("got %s", o.Status)
	}
	text := sidecarText(t, "cost", m.StateID, 1, turns)
	write(t, d, "cost.json", text)
	if !s.Look() || s.Look() {
		t.Error("a look does not tell one change")
	}
	first := s.Owner()
	if raw, _, _ := first.Field("turns"); string(raw) != "3" || s.Read() != first {
		t.Errorf("got %s, or unchanged bytes were decoded again", raw)
	}
	if allocated := testing.AllocsPerRun(10, func() { s.Look() }); allocated > 0 {
		t.Errorf("a look at unchanged bytes allocates %v times", allocated)
	}
	next := sidecarText(t, "cost", m.StateID, 2, nil)
	doc, err := document.Decode(next)
	if err != nil {
		t.Fatal(err)
	}
	write(t, d, "cost.json", next)
	s.Wrote(doc, next)
	if o := s.Read(); o.Document() != doc || o.Version.Revision != 2 {
		t.Error("written bytes were decoded")
	}
	if err := os.Remove(filepath.Join(d.Path(), "cost.json")); err != nil {
		t.Fatal(err)
	}
	if !s.Look() || s.Owner().Status != Missing {
		t.Error("the file is gone, and the source does not say so")
	}
}

func TestSourceReadsTheSidecarOfAnUpgrade(t *testing.T) {
	d, m := ownersState(t)
	write(t, d, "cost.json", sidecarText(t, "cost", m.StateID, 1, nil))
	id := process.NewNonce()
	if err := d.dir.Staged(id).Write(map[string][]byte{"cost.json": sidecarText(t, "cost", m.StateID, 2, nil)}); err != nil {
		t.Fatal(err)
	}
	m.Pending = &schema.Pending{ID: id, Sidecars: []string{"cost"}}
	s := d.Source(m, "cost")
	if o := s.Read(); o.Version.Revision != 2 || o.Path != d.dir.Staged(id).Path("cost.json") {
		t.Errorf("got version %v of %s", o.Version, o.Path)
	}
	if err := d.dir.Staged(id).Install("cost.json", false); err != nil {
		t.Fatal(err)
	}
	write(t, d, "cost.json", []byte("{"))
	if o := s.Read(); o.Path != filepath.Join(d.Path(), "cost.json") || RemedyOf(o.Err).Verb != status.Upgrade {
		t.Errorf("got %s with the remedy %q", o.Path, RemedyOf(o.Err))
	}
}

func TestOwnerRegressesAgainstASeenVersion(t *testing.T) {
	d, m := ownersState(t)
	old := sidecarText(t, "cost", m.StateID, 1, turns)
	newer := Version{Epoch: 1 << 50, Revision: 2, Nonce: process.NewNonce()}
	write(t, d, "guard.json", sidecarText(t, "guard", m.StateID, 1, func(doc *document.Document, by Provenance) {
		doc.Set("seen", []byte("3"), by)
		doc.Observe("seen", document.Observation{"turns": newer})
	}))
	guard := d.Owner(m, "guard")
	judge := func() *Owner {
		o := d.Owner(m, "cost")
		for s := range SightingsOf(&m.Declaration, "cost", Upgraded(m, "cost"), func(yield func(*Owner) bool) { yield(guard) }) {
			o = o.Against(s)
		}
		return o
	}
	said.Same(t, "owner: regressed, and gone", judge().Err, d.Path(), "STATE")
	if o := judge(); o.Status != Regressed || !strings.Contains(o.Err.Error(), "it is gone") || RemedyOf(o.Err).String() != "bring the file back; or accept cost" {
		t.Errorf("got %s: %v with the remedy %q", o.Status, o.Err, RemedyOf(o.Err))
	}
	write(t, d, "cost.json", old)
	said.Same(t, "owner: regressed", judge().Err, d.Path(), "STATE")
	if o := judge(); o.Status != Regressed || o.Version.Revision != 1 || o.Document() != nil {
		t.Errorf("got %s: %v", o.Status, o.Err)
	}
	m.Upgraded = map[string]string{"cost": newer.String()}
	guard = d.Owner(m, "cost")
	if o := judge(); o.Status != Regressed || !strings.Contains(o.Err.Error(), "an upgrade") {
		t.Errorf("got %s: %v", o.Status, o.Err)
	}
}

func TestOnceHasAStatusAndARemedy(t *testing.T) {
	d, m := ownersState(t)
	s := d.OnceSource(m, "guard", "fired")
	if o := d.Once(m, "guard", "fired"); o.Status != Missing || !s.Look() || s.Look() {
		t.Errorf("got %s", o.Status)
	}
	claim := document.Claim{Owner: "guard", Field: "fired", State: m.StateID, Nonce: process.NewNonce(), At: time.Unix(1e9, 0).UTC(), Writer: Writer{Program: "test", Identity: process.Self()}}
	text, err := claim.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := ClaimFile("guard", "fired")
	write(t, d, file, text)
	if !s.Look() || s.Look() || s.Once() != s.Once() || s.Once().ID != claim.Nonce || s.Once().Status != OK {
		t.Errorf("got %+v", s.Once())
	}
	for name, c := range map[string]struct {
		text   []byte
		status Status
	}{
		"torn":      {[]byte("{"), Invalid},
		"edited":    {bytes.Replace(text, []byte(`"fired"`), []byte(`"firet"`), 1), Foreign},
		"too large": {make([]byte, document.MaxClaim+1), Invalid},
	} {
		write(t, d, file, c.text)
		said.Same(t, "once: "+name, d.Once(m, "guard", "fired").Err, d.Path(), "STATE")
		if o := d.Once(m, "guard", "fired"); o.Status != c.status || !errors.Is(o.Err, c.status) || RemedyOf(o.Err).IsZero() {
			t.Errorf("got %s: %v", o.Status, o.Err)
		}
	}
	write(t, d, file, text)
	whole := d.Once(m, "guard", "fired")
	another := whole.Against("0000000000000")
	said.Same(t, "once: another", another.Err, d.Path(), "STATE", claim.Nonce, "CLAIM")
	if another.Status != Regressed || whole.Against(claim.Nonce) != whole || whole.Against("") != whole {
		t.Errorf("got %s: %v", another.Status, another.Err)
	}
	said.Same(t, "once: gone", NewOnce(m, "guard", "fired", whole.Path, nil, fs.ErrNotExist).Against("0000000000000").Err, d.Path(), "STATE")
	if err := os.RemoveAll(filepath.Dir(filepath.Join(d.Path(), file))); err != nil {
		t.Fatal(err)
	}
	if o := d.Once(m, "guard", "fired"); o.Status != Unreadable || !errors.Is(o.Err, Lost) {
		t.Errorf("got %s: %v", o.Status, o.Err)
	}
}
