package sidecar

import (
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
)

// TestErrorsSayWhatToDoOfObservations is about tokens of what was seen.
func TestErrorsSayWhatToDoOfObservations(t *testing.T) {
	s := newDependents(t)
	dir := s.w.dir.Path()
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, "observation: "+how, err, dir, "STATE", s.id, "STATEID")
	}
	same("the zero token", failed(t, s.w, func(tx *Tx) { DependentValueOf[sight](tx, "tokens", schema.Uint).Set(sight{}, 1) }))
	set := func(field string, verb schema.Verb, value string, seen Seen) func(*Tx) {
		return func(tx *Tx) { tx.Apply(Op{Field: field, Verb: verb, Value: []byte(value), Seen: seen}) }
	}
	same("of a field that depends on nothing", failed(t, s.w, set("free", schema.VerbSet, "1", s.at(1).seen)))
	same("of a set", failed(t, s.w, set("names", schema.VerbInsert, `"a"`, s.at(1).seen)))
	same("to clear", failed(t, s.w, set("tokens", schema.VerbClear, "", s.at(1).seen)))
	same("of another state", failed(t, s.w, set("tokens", schema.VerbSet, "1", apply.SeenOf(strings.Repeat("0", 26), map[string]Version{"at": {}}))))
	same("of other fields", failed(t, s.w, set("tokens", schema.VerbSet, "1", apply.SeenOf(s.id, map[string]Version{"b": {}}))))
	for how, text := range map[string]string{
		"hostile": "\x1b[2J\u202e", "in no order": s.id + ":b=,a=", "no pair": s.id + ":a", "no version": s.id + ":a=1.2", "an epoch beyond belief": s.id + ":a=9007199254740991.1.0000000000000",
	} {
		same(how, new(Seen).UnmarshalText([]byte(text)))
	}
}

// TestErrorsSayWhatToDoOfEvents is about tokens of events, and old copies.
func TestErrorsSayWhatToDoOfEvents(t *testing.T) {
	clock := time.Now()
	dir, w := newHappening(t, &Options{Clock: func() time.Time { return clock }})
	same := func(how string, err error, more ...string) {
		t.Helper()
		said.Same(t, "event: "+how, err, append([]string{dir, "STATE", w.manifest.StateID, "STATEID"}, more...)...)
	}
	same("a hostile token", new(EventToken).UnmarshalText([]byte("\x1b[2J")))
	event := EventOf(w, "at")
	_, err := event.Done(t.Context(), EventToken{})
	same("the zero token", err)
	_, err = event.Done(t.Context(), apply.TokenOf(w.manifest.StateID, "at", "0000000000000"))
	same("what never began", err)
	_, err = EventOf(w, "cleared").Begin(t.Context())
	same("no event", err)
	same("another verb", failed(t, w, func(tx *Tx) { tx.Apply(Op{Field: "at", Verb: schema.VerbSet, Value: []byte("1")}) }))
	var token EventToken
	for range apply.MaxOpen {
		token = begin(t, w, "at")
	}
	_, err = event.Begin(t.Context())
	same("too many", err)
	clock = time.Time{}
	_, err = event.Done(t.Context(), token)
	same("a clock that tells no time", err)
	clock = time.Now()
	v := happen(t, w)
	seen := v
	seen.Revision++
	observeAt(t, dir, seen)
	same("an older copy", failed(t, w, func(tx *Tx) { clearIt(tx) }), v.String(), "OLD", seen.String(), "NEW")
}
