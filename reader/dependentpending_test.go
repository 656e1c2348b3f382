package reader

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// What was seen is kept in a pending patch, too: the view is as fresh
// before it is folded as afterwards, and is overtaken by the same.
func TestWhatIsSetPendingIsAsFreshAsWhatItsWriterSaw(t *testing.T) {
	d := &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"tool":  {Busy: schema.Busy{Wait: "1ms", Then: schema.Defer}, Fields: map[string]schema.Field{"peak": {Type: schema.TypeUint, Kind: schema.Max, DependsOn: []string{"phase"}}}},
		"judge": {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
	}}
	s := &spooling{TB: t, dir: filepath.Join(t.TempDir(), "state")}
	open := func(owner string) *sidecar.Writer {
		w, err := sidecar.Open(context.Background(), s.dir, d, owner, &sidecar.Options{Create: true, Program: "hook"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	s.worker, s.hook = open("tool"), open("tool")
	judge := open("judge")
	r := s.reader()
	phase := func(to string) {
		t.Helper()
		s.commit(judge, sidecar.Op{Field: "phase", Verb: schema.VerbSet, Value: []byte(`"` + to + `"`)})
	}
	raise := func(to string) sidecar.Op {
		t.Helper()
		seen, err := s.view(r).ObserveFor("peak")
		if err != nil {
			t.Fatal(err)
		}
		return sidecar.Op{Field: "peak", Verb: schema.VerbRaise, Value: []byte(to), Seen: seen}
	}
	want := func(verdict Verdict, why Reason, pending int) {
		t.Helper()
		v := s.view(r)
		if f := v.Field("peak").Freshness(); f.Verdict != verdict || f.Reason != why {
			t.Errorf("%s (%s), want %s (%s): %s", f.Verdict, f.Reason, verdict, why, f)
		}
		if o, _ := v.Owner("tool"); o.Pending != pending || o.Err != nil || o.PendingErr != nil {
			t.Errorf("%d pending patches (%v, %v), want %d", o.Pending, o.Err, o.PendingErr, pending)
		}
	}
	phase("early")
	s.pending(raise("1"))
	want(Fresh, "current", 1)
	phase("late")
	want(Stale, "overtaken", 1)
	s.commit(s.worker) // folds it
	want(Stale, "overtaken", 0)
	s.pending(raise("2"))
	want(Fresh, "current", 1)
	s.commit(s.worker)
	want(Fresh, "current", 0)
	op := raise("3")
	op.Seen = sidecar.Seen{}
	s.pending(op)
	want(Unknown, "not-observed", 1)

	// What cannot be shown may be the newest value of peak itself.
	s.commit(s.worker, raise("1000"))
	want(Fresh, "current", 0)
	if err := os.WriteFile(filepath.Join(s.dir, ".freehold", "tool.pending", "zz.1.json"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := s.view(r).Field("peak").Freshness(); f.Verdict != Unknown || f.Reason != "unreadable" {
		t.Errorf("%s (%s), want %s: %s", f.Verdict, f.Reason, Unknown, f)
	}
}
