package reader_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/google/go-cmp/cmp"
)

// depending declares a chain: verdict depends on tokens, and that on two fields
// of two owners.
func depending() *schema.Declaration {
	return &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{
		"archive": {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
		"reset":   {Fields: map[string]schema.Field{"at": {Type: schema.TypeTime, Kind: schema.Max}, "cleared": {Type: schema.TypeBool}}},
		"cost": {Fields: map[string]schema.Field{
			"tokens": {Type: schema.TypeUint, DependsOn: []string{"at", "phase"}},
			"turns":  {Type: schema.TypeUint},
		}},
		"watch": {Fields: map[string]schema.Field{"verdict": {Type: schema.TypeString, DependsOn: []string{"tokens"}}}},
	}}
}

// versionOf returns the version of a field as its owner's sidecar has it.
func (s *state) versionOf(owner, field string) sidecar.Version {
	_, by, _ := s.docs[owner].Field(field)
	return by.Version
}

// observed commits tokens as cost, whose writer had seen these versions.
func (s *state) observed(seen document.Observation) {
	s.Helper()
	s.text("cost", "tokens", "5")
	s.docs["cost"].Observe("tokens", seen)
	s.rewrite("cost")
}

// rewrite puts owner's document, which was changed, into its place.
func (s *state) rewrite(owner string) {
	s.Helper()
	text, err := s.docs[owner].Encode()
	if err != nil {
		s.Fatal(err)
	}
	s.put(owner, text)
}

// A part is how matters stand with one field that another depends on: what
// there is of it, and what the writer of the other had seen.
type part struct {
	held string // none | written | again | foreign | gone | moved aside | begun | written+begun
	seen string // unsaid | nothing | first | second | fork
	want reader.Verdict
	why  reader.Reason
}

// parts lists every way.
var parts = []part{
	{"none", "nothing", reader.Fresh, "current"},
	{"none", "unsaid", reader.Unknown, "not-observed"},
	{"none", "first", reader.Unknown, "dependency-unreadable"}, // it is gone
	{"written", "nothing", reader.Stale, "overtaken"},
	{"written", "unsaid", reader.Unknown, "not-observed"},
	{"written", "first", reader.Fresh, "current"},
	{"again", "nothing", reader.Stale, "overtaken"},
	{"again", "unsaid", reader.Unknown, "not-observed"},
	{"again", "first", reader.Stale, "overtaken"},
	{"again", "second", reader.Fresh, "current"},
	{"cleared", "first", reader.Stale, "overtaken"},
	{"foreign", "unsaid", reader.Unknown, "dependency-unreadable"},
	{"foreign", "nothing", reader.Unknown, "dependency-unreadable"},
	{"foreign", "first", reader.Unknown, "dependency-unreadable"},
	{"gone", "first", reader.Unknown, "dependency-unreadable"},
	{"moved aside", "first", reader.Unknown, "dependency-behind"},
	{"begun", "unsaid", reader.Ambiguous, "begun"},
	{"begun", "nothing", reader.Ambiguous, "begun"},
	{"written+begun", "unsaid", reader.Ambiguous, "begun"},
	{"written+begun", "nothing", reader.Stale, "overtaken"},
	{"written+begun", "first", reader.Ambiguous, "begun"},
	// Another commit of the same number is another history.
	{"written", "fork", reader.Unknown, "dependency-unreadable"},
	{"again", "fork", reader.Unknown, "dependency-unreadable"},
	{"written", "second", reader.Unknown, "dependency-unreadable"},
}

// bring brings owner's field to where p has it, and returns what was seen of it.
func (p part) bring(s *state, owner, field, value, other string) (seen sidecar.Version, known bool) {
	s.Helper()
	var first, second sidecar.Version
	if p.held != "none" && p.held != "begun" {
		s.commit(owner, field, value)
		first = s.versionOf(owner, field)
	}
	switch p.held {
	case "again":
		s.commit(owner, field, other)
		second = s.versionOf(owner, field)
	case "cleared":
		s.commit(owner, field, "")
	case "gone":
		if err := os.Remove(s.path(owner)); err != nil {
			s.Fatal(err)
		}
	case "moved aside": // an empty one in a new epoch is there
		s.docs[owner] = document.New(owner, s.id)
		s.commit(owner)
		first.Epoch--
	case "foreign":
		text, err := os.ReadFile(s.path(owner))
		if err != nil {
			s.Fatal(err)
		}
		s.put(owner, []byte(strings.Replace(string(text), field+`":"`, field+`": "`, 1)))
	case "begun", "written+begun":
		if p.held == "begun" {
			s.text(owner)
		}
		doc := s.docs[owner]
		by := document.Provenance{Version: doc.Version, At: now, Program: "x", PID: 1}
		doc.Begin(field, "0000000000001", by)
		s.rewrite(owner)
	}
	ahead := sidecar.Version{Epoch: 1786439564031000, Revision: 1, Nonce: "0000000000009"}
	switch p.seen {
	case "unsaid":
		return sidecar.Version{}, false
	case "first":
		if first.IsZero() {
			return ahead, true
		}
		return first, true
	case "second":
		if second.IsZero() {
			ahead.Revision = 99
			return ahead, true
		}
		return second, true
	case "fork":
		return ahead, true
	}
	return sidecar.Version{}, true
}

func TestFreshnessIsDecidedByVersions(t *testing.T) {
	for _, p := range parts {
		t.Run(p.held+", seen "+p.seen, func(t *testing.T) {
			s := newState(t, depending())
			statetest.Damaged(s.dir, "sidecar-foreign", "sidecar-regressed")
			seen, known := p.bring(s, "reset", "at", `"2026-08-11T09:12:44Z"`, `"2026-08-11T09:12:45Z"`)
			o := document.Observation{"phase": {}}
			if known {
				o["at"] = seen
			}
			s.observed(o)
			got := view(t, s.open()).Field("tokens").Freshness()
			if got.Verdict != p.want || got.Reason != p.why {
				t.Errorf("%s (%s), want %s (%s): %s", got.Verdict, got.Reason, p.want, p.why, got)
			}
			if got.Fresh() != (p.want == reader.Fresh) || got.Says == "" || !got.Fresh() && got.Field != "at" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Of two dependencies the one decides whose verdict weighs more.
func TestFreshnessOfSeveralIsTheHeaviest(t *testing.T) {
	weight := []reader.Verdict{reader.Fresh, reader.Unknown, reader.Ambiguous, reader.Stale}
	index := func(v reader.Verdict) int {
		for i := range weight {
			if weight[i] == v {
				return i
			}
		}
		return -1
	}
	var each []part // of each reason, one
	for _, p := range parts {
		if !slices.ContainsFunc(each, func(q part) bool { return q.why == p.why }) {
			each = append(each, p)
		}
	}
	for _, p := range each {
		for _, q := range each {
			s := newState(t, depending())
			statetest.Damaged(s.dir, "sidecar-foreign", "sidecar-regressed")
			o := document.Observation{}
			if seen, known := p.bring(s, "reset", "at", `"2026-08-11T09:12:44Z"`, `"2026-08-11T09:12:45Z"`); known {
				o["at"] = seen
			}
			if seen, known := q.bring(s, "archive", "phase", `"a"`, `"b"`); known {
				o["phase"] = seen
			}
			s.observed(o)
			want, why, field := p.want, p.why, "at"
			if index(q.want) > index(p.want) {
				want, why, field = q.want, q.why, "phase"
			}
			got := view(t, s.open()).Field("tokens").Freshness()
			if got.Verdict != want || got.Reason != why || !got.Fresh() && got.Field != field {
				t.Errorf("%+v and %+v: %+v, want %s (%s) by %s", p, q, got, want, why, field)
			}
		}
	}
}

func TestFreshnessWithoutADependencyOrAValue(t *testing.T) {
	s := newState(t, depending())
	statetest.Damaged(s.dir, "sidecar-invalid")
	check := func(field string, want reader.Verdict, why reader.Reason) {
		t.Helper()
		if got := view(t, s.open()).Field(field).Freshness(); got.Verdict != want || got.Reason != why || got.Says == "" {
			t.Errorf("%s: %+v, want %s (%s)", field, got, want, why)
		}
	}
	check("tokens", reader.Unknown, "unset")
	check("turns", reader.Fresh, "independent")
	check("nonsense", reader.Unknown, "unreadable")
	s.commit("cost", "turns", "1")
	check("tokens", reader.Unknown, "unset")
	s.observed(document.Observation{"at": {}, "phase": {}})
	check("tokens", reader.Fresh, "current")
	s.commit("cost", "tokens", "")
	check("tokens", reader.Unknown, "unset")
	if err := os.Truncate(s.path("cost"), 5); err != nil {
		t.Fatal(err)
	}
	check("tokens", reader.Unknown, "unreadable")
	if got := (reader.Field[uint64]{}).Freshness(); got.Verdict != reader.Unknown {
		t.Errorf("the zero Field is %+v", got)
	}
}

// What is older than somebody has seen it is not shown, and says so; the others
// are.
func TestRestoredBackupIsRegressed(t *testing.T) {
	s := newState(t, depending())
	s.commit("reset", "at", `"2026-08-11T09:12:44Z"`)
	backup, err := os.ReadFile(s.path("reset"))
	if err != nil {
		t.Fatal(err)
	}
	s.commit("reset", "at", `"2026-08-11T09:12:45Z"`)
	seen := s.versionOf("reset", "at")
	s.observed(document.Observation{"at": seen, "phase": {}})
	r := s.open()
	before := view(t, r)
	s.put("reset", backup)
	v := view(t, r)
	o, _ := v.Owner("reset")
	if o.Status != store.Regressed || !errors.Is(o.Err, store.Regressed) || store.RemedyOf(o.Err).Verb != "accept" || o.Version.Revision != 1 {
		t.Errorf("the owner is %+v", o)
	}
	if _, err := v.Field("at").Raw(); !errors.Is(err, store.Regressed) {
		t.Errorf("its field: %v, want an error that wraps %v", err, store.Regressed)
	}
	if raw, err := v.Field("tokens").Raw(); err != nil || string(raw) != "5" {
		t.Errorf("another owner's field: %s (%v)", raw, err)
	}
	if v.ID() == before.ID() {
		t.Error("the cut has the id of the one before")
	}
	if _, err := v.Observe("at"); !errors.Is(err, store.Regressed) {
		t.Errorf("it was observed (%v)", err)
	}
	// Going on from the old copy makes it no better, as long as it remembers.
	s.docs["reset"], err = document.Decode(backup)
	if err != nil {
		t.Fatal(err)
	}
	s.commit("reset", "cleared", "true")
	s.commit("reset", "cleared", "false")
	if o, _ := view(t, r).Owner("reset"); o.Status != store.Regressed {
		t.Errorf("after two more commits it is %s", o.Status)
	}
	// A larger epoch has overtaken all that was seen.
	doc := s.docs["reset"]
	doc.Commit(document.Version{Epoch: seen.Epoch + 1, Revision: 1, Nonce: "0000000000001"}, now, doc.Writer)
	s.rewrite("reset")
	if o, _ := view(t, r).Owner("reset"); o.Status != store.OK {
		t.Errorf("after a new epoch it is %s: %v", o.Status, o.Err)
	}
}

// Where several fields show that a sidecar is an older copy, all views name the
// same one: equal views are equal to the byte.
func TestRegressionIsSaidInOneWay(t *testing.T) {
	s := newState(t, depending())
	statetest.Damaged(s.dir, "sidecar-regressed")
	s.commit("reset", "at", `"2026-08-11T09:12:44Z"`)
	backup, err := os.ReadFile(s.path("reset"))
	if err != nil {
		t.Fatal(err)
	}
	s.commit("reset", "cleared", "true")
	s.commit("reset", "at", `"2026-08-11T09:12:45Z"`)
	s.observed(document.Observation{"at": s.versionOf("reset", "at"), "cleared": s.versionOf("reset", "cleared"), "phase": {}})
	s.put("reset", backup)
	for range 20 { // the order in a map differs from one reading to the next
		o, _ := view(t, s.open()).Owner("reset")
		if o.Err == nil || !strings.Contains(o.Err.Error(), "of its field at before it wrote tokens") {
			t.Fatalf("the owner is %+v", o)
		}
	}
}

// A sidecar that is gone is not one that nobody has written, for whoever has
// seen it.
func TestRemovedSidecarIsRegressed(t *testing.T) {
	s := newState(t, depending())
	statetest.Damaged(s.dir, "sidecar-regressed")
	s.commit("reset", "at", `"2026-08-11T09:12:44Z"`)
	s.observed(document.Observation{"at": s.versionOf("reset", "at"), "phase": {}})
	r := s.open()
	before := view(t, r)
	if err := os.Remove(s.path("reset")); err != nil {
		t.Fatal(err)
	}
	v := view(t, r)
	o, _ := v.Owner("reset")
	if o.Status != store.Regressed || !o.Version.IsZero() || !errors.Is(o.Err, store.Regressed) || !strings.Contains(o.Err.Error(), "it is gone") || store.RemedyOf(o.Err).Verb != "accept" {
		t.Errorf("the owner is %+v", o)
	}
	if _, err := v.Field("at").Raw(); !errors.Is(err, store.Regressed) || errors.Is(err, reader.ErrUnset) {
		t.Errorf("its field: %v, want an error that wraps %v", err, store.Regressed)
	}
	if f := v.Field("tokens").Freshness(); f.Fresh() || f.Reason != "dependency-unreadable" {
		t.Errorf("what depends on it is %+v", f)
	}
	if o, _ := v.Owner("archive"); o.Status != store.Missing {
		t.Errorf("one that nobody has seen is %s", o.Status)
	}
	if v.ID() == before.ID() {
		t.Error("the cut has the id of the one before")
	}
}

func TestObserveTellsWhatTheViewHolds(t *testing.T) {
	s := newState(t, depending())
	s.commit("reset", "at", `"2026-08-11T09:12:44Z"`)
	v := view(t, s.open())
	seen, err := v.ObserveFor("tokens")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"at", "phase"}, seen.Fields()); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if at, ok := seen.Version("at"); !ok || at != s.versionOf("reset", "at") {
		t.Errorf("at is seen at %v, %v", at, ok)
	}
	if phase, ok := seen.Version("phase"); !ok || !phase.IsZero() {
		t.Errorf("phase is seen at %v, %v: nobody wrote it", phase, ok)
	}
	var again sidecar.Seen
	if text, err := seen.MarshalText(); err != nil || again.UnmarshalText(text) != nil || again != seen {
		t.Errorf("%q became %q (%v)", seen, again, err)
	}
	if _, err := v.Observe("nonsense"); !errors.Is(err, reader.ErrUnknownField) {
		t.Errorf("an unknown field: %v", err)
	}
}
