package sidecar

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// use counts one use of deploy, as the tool.
func use(tx *Tx) { skillsPart(tx).Key("deploy").UseCount().Add(1) }

func create(tx *Tx) { skillsMap(tx).Insert("deploy") }

func TestOtherOwnersAttachToAnIncarnation(t *testing.T) {
	s := newUsage(t)
	s.fails("tool", ErrNoKey, use, `key "deploy"`, "owner creator", "let it create the key first")
	s.update("creator", create)
	s.update("tool", use)
	s.update("tool", use)
	s.wantStored("tool", map[string]string{"skills": `{"deploy":{"use_count":2}}`})
	if got, want := s.born("tool", "deploy"), s.born("creator", "deploy"); got != want {
		t.Errorf("attached to %v, want %v", got, want)
	}
	s.update("tool", func(tx *Tx) {
		if n, ok := skillsPart(tx).Key("deploy").UseCount().Get(); n != 2 || !ok {
			t.Errorf("use_count is %v, %v", n, ok)
		}
		if n, ok := skillsPart(tx).Key("absent").UseCount().Get(); ok {
			t.Errorf("use_count of no key is %v", n)
		}
		if diff := cmp.Diff([]string{"deploy"}, skillsPart(tx).Keys()); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsAttachedToAnotherIncarnationIsAbsent(t *testing.T) {
	s := newUsage(t)
	s.update("creator", func(tx *Tx) {
		create(tx)
		skillsMap(tx).Insert("gone")
		skillsMap(tx).Insert("kept")
	})
	s.update("tool", func(tx *Tx) {
		for _, key := range skillsPart(tx).Keys() {
			skillsPart(tx).Key(key).UseCount().Add(7)
		}
	})
	s.update("creator", func(tx *Tx) {
		skillsMap(tx).Delete("gone")
		skillsMap(tx).Delete("deploy")
		create(tx)
	})
	s.update("tool", func(tx *Tx) {
		if n, ok := skillsPart(tx).Key("deploy").UseCount().Get(); ok {
			t.Errorf("the new incarnation has %d uses of the old one", n)
		}
	})
	s.wantStored("tool", map[string]string{"skills": `{"deploy":{"use_count":7},"gone":{"use_count":7},"kept":{"use_count":7}}`})
	s.update("tool", use)
	s.wantStored("tool", map[string]string{"skills": `{"deploy":{"use_count":1},"kept":{"use_count":7}}`})
	if got, want := s.born("tool", "deploy"), s.born("creator", "deploy"); got != want {
		t.Errorf("attached to %v, want %v", got, want)
	}
}

func TestNothingAttachedIsNoRow(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.update("user", func(tx *Tx) {
		tx.Apply(Op{Field: "skills", Key: "deploy", Member: "pinned", Verb: schema.VerbSet, Value: []byte("true")})
	})
	s.wantStored("user", map[string]string{"skills": `{"deploy":{"pinned":true}}`})
	s.update("user", func(tx *Tx) { tx.Apply(Op{Field: "skills", Key: "deploy", Member: "pinned", Verb: schema.VerbClear}) })
	s.wantStored("user", map[string]string{"skills": `{}`})
	if text := s.text("user"); strings.Contains(text, `"keys"`) {
		t.Errorf("an incarnation is left:\n%s", text)
	}
}

// A call means the key that there was when it began, also if the key is
// deleted and created again while it waits for its lock.
func TestAPartMeansTheKeyThatThereWasWhenItsUpdateBegan(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	old := s.born("creator", "deploy")
	w := s.open("tool")
	recreate := func(tx *Tx) { skillsMap(tx).Delete("deploy"); create(tx) }

	// The key changes between the beginning of the Update and its function.
	update(t, w, func(tx *Tx) error {
		s.update("creator", recreate)
		use(tx)
		return nil
	})
	if got := s.born("tool", "deploy"); got != old {
		t.Errorf("attached to %v, want %v, which the call meant", got, old)
	}

	// Another process has attached to the new one by then: that stays.
	late := w.look() // what a call saw that began now
	s.update("creator", recreate)
	s.update("tool", use)
	if got, want := s.born("tool", "deploy"), s.born("creator", "deploy"); got != want {
		t.Fatalf("attached to %v, want %v", got, want)
	}
	before := s.text("tool")
	_, err := w.Update(t.Context(), func(tx *Tx) error {
		tx.layer.Others = late
		use(tx)
		return nil
	})
	wantError(t, err, ErrConflict, "created again while this Update waited: call it again")
	said.Same(t, "update: the key was created again meanwhile", err, s.dir, "STATE")
	if s.text("tool") != before {
		t.Error("what another process attached to the new incarnation was lost")
	}
}

func TestAtMeansOneIncarnation(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	stale := Ref{Key: "deploy", Incarnation: s.born("creator", "deploy")}
	s.update("tool", func(tx *Tx) { skillsPart(tx).At(stale).UseCount().Add(1) })
	s.update("creator", func(tx *Tx) {
		if ref, ok := skillsMap(tx).Ref("deploy"); ref != stale || !ok {
			t.Errorf("Ref is %v, %v", ref, ok)
		}
		skillsMap(tx).At(stale).Weight().Raise(1)
		skillsMap(tx).DeleteAt(stale)
	})
	s.update("creator", create)
	for owner, fn := range map[string]func(tx *Tx){
		"tool": func(tx *Tx) { skillsPart(tx).At(stale).UseCount().Add(1) },
		"user": func(tx *Tx) {
			tx.Apply(Op{Field: "skills", Key: "deploy", At: stale.Incarnation, Member: "pinned", Verb: schema.VerbSet, Value: []byte("true")})
		},
		"creator": func(tx *Tx) { skillsMap(tx).DeleteAt(stale) },
	} {
		s.fails(owner, ErrConflict, fn, `key "deploy"`, "no longer the incarnation "+stale.Incarnation.String(), "look at the map again")
	}
	s.fails("tool", ErrConflict, func(tx *Tx) { skillsPart(tx).At(stale).UseCount().Get() })
	s.update("tool", func(tx *Tx) {
		if ref, ok := skillsPart(tx).Ref("deploy"); ref.Incarnation != s.born("creator", "deploy") || !ok {
			t.Errorf("Ref is %v, %v", ref, ok)
		}
		if ref, ok := skillsPart(tx).Ref("absent"); ok {
			t.Errorf("Ref of no key is %v", ref)
		}
	})
}

func TestOnlyTheOwnerOfTheKeysDecidesThem(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	for verb, owner := range map[schema.Verb]string{schema.VerbDelete: "tool", schema.VerbInsert: "user"} {
		s.fails(owner, ErrNotOwner, func(tx *Tx) { tx.Apply(Op{Field: "skills", Key: "deploy", Verb: verb}) }, "owner creator decides which keys the map has")
	}
	s.fails("user", ErrNotOwner, func(tx *Tx) {
		tx.Apply(Op{Field: "skills", Key: "deploy", Member: "use_count", Verb: schema.VerbAdd, Value: []byte("1")})
	}, "it belongs to owner tool, and owner user may not write it")
	s.fails("user", ErrNotOwner, func(tx *Tx) {
		tx.Apply(Op{Field: "skills", Key: "deploy", Member: "usecount", Verb: schema.VerbAdd, Value: []byte("1")})
	}, "no owner of state usage declares it")
}

// A damaged sidecar of the owner of the keys stops what needs it, and nothing
// else.
func TestADamagedOwnerOfTheKeysStopsOnlyTheMap(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.edit("creator", `"skills":{"deploy":{}}`, `"skills":{"deplay":{}}`)
	s.fails("tool", store.Foreign, use, "owner creator, which decides the keys", "accept creator")
	s.fails("tool", store.Foreign, func(tx *Tx) { skillsPart(tx).Keys() })
	s.update("tool", func(tx *Tx) { tx.Apply(Op{Field: "turns", Verb: schema.VerbAdd, Value: []byte("1")}) })
	s.wantStored("tool", map[string]string{"turns": "1"})
}
