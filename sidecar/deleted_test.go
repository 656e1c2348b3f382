package sidecar

import (
	"testing"

	"github.com/freehold-dev/freehold/schema"
)

// Case 125: a Writer that has read a key, and written it, brings it not back
// after another one deleted it, whatever else it commits; nor do those who attach
// to it.
func TestADeletedKeyStaysAwayBesideWhoKnewIt(t *testing.T) {
	s := newUsage(t)
	a, b, tool := s.open("creator"), s.open("creator"), s.open("tool")
	put := func(w *Writer, key string) {
		t.Helper()
		update(t, w, func(tx *Tx) error { skillsMap(tx).Key(key).CreatedBy().Set("me"); return nil })
	}
	put(a, "k")
	put(b, "other")
	update(t, tool, func(tx *Tx) error { skillsPart(tx).Key("k").UseCount().Add(3); return nil })
	update(t, a, func(tx *Tx) error { skillsMap(tx).Delete("k"); return nil })
	put(b, "another")
	update(t, b, func(tx *Tx) error {
		if _, ok := skillsMap(tx).Ref("k"); ok {
			t.Error("who wrote it before sees it still")
		}
		return nil
	})
	update(t, tool, func(tx *Tx) error { CounterOf(tx, "turns", schema.Uint).Add(1); return nil })
	_, err := tool.Update(t.Context(), func(tx *Tx) error { skillsPart(tx).Key("k").UseCount().Add(1); return nil })
	wantError(t, err, ErrNoKey, `"k"`)
	s.wantStored("creator", map[string]string{"skills": `{"another":{"created_by":"me"},"other":{"created_by":"me"}}`})
	put(b, "k")
	update(t, tool, func(tx *Tx) error {
		if n, ok := skillsPart(tx).Key("k").UseCount().Get(); ok {
			t.Errorf("the new one has been used %d times", n)
		}
		return nil
	})
}
