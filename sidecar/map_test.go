package sidecar

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWritingAMemberCreatesTheKey(t *testing.T) {
	s := newUsage(t)
	c := s.update("creator", func(tx *Tx) {
		deploy := skillsMap(tx).Key("deploy")
		if _, ok := deploy.Weight().Get(); ok {
			t.Error("a member of no key is set")
		}
		deploy.Weight().Raise(0)
		skillsMap(tx).Insert("bare")
	})
	s.wantStored("creator", map[string]string{"skills": `{"bare":{},"deploy":{"weight":0}}`})
	for _, key := range []string{"deploy", "bare"} {
		if born := s.born("creator", key); born != c.Version {
			t.Errorf("%s is of incarnation %v, want that of the commit, %v", key, born, c.Version)
		}
	}
	again := s.update("creator", func(tx *Tx) {
		skillsMap(tx).Key("deploy").Weight().Raise(-1)
		skillsMap(tx).Key("deploy").CreatedBy().Clear()
		skillsMap(tx).Key("absent").CreatedBy().Clear()
		skillsMap(tx).Insert("bare")
		skillsMap(tx).Delete("absent")
	})
	if again.Outcome != Unchanged {
		t.Errorf("what changes nothing is %v", again.Outcome)
	}
}

func TestADeletedKeyComesBackAsAnotherIncarnation(t *testing.T) {
	s := newUsage(t)
	s.update("creator", func(tx *Tx) { skillsMap(tx).Key("deploy").CreatedBy().Set("agent") })
	first := s.born("creator", "deploy")
	s.update("creator", func(tx *Tx) { skillsMap(tx).Delete("deploy") })
	s.wantStored("creator", map[string]string{"skills": `{}`})
	s.update("creator", func(tx *Tx) { skillsMap(tx).Key("deploy").Weight().Raise(3) })
	s.wantStored("creator", map[string]string{"skills": `{"deploy":{"weight":3}}`})
	second := s.born("creator", "deploy")
	if second == first || second.IsZero() {
		t.Errorf("the incarnations are %v and %v", first, second)
	}
	// Within one commit, too.
	c := s.update("creator", func(tx *Tx) {
		skillsMap(tx).Delete("deploy")
		if _, ok := skillsMap(tx).Ref("deploy"); ok {
			t.Error("a key that was just deleted is there")
		}
		skillsMap(tx).Key("deploy").Weight().Raise(3)
	})
	if third := s.born("creator", "deploy"); third != c.Version || c.Outcome != Applied {
		t.Errorf("created again in one commit: incarnation %v, %v", third, c)
	}
}

// In the order of fields and keys, and not the fields that were written and kept
// their value.
func TestCommitTellsTheChangesOfItsUpdate(t *testing.T) {
	s := newUsage(t)
	changes := func(owner string, fn func(*Tx)) (texts []string) {
		for _, ch := range s.update(owner, fn).Changes {
			text := fmt.Sprintf("%s %s: %s -> %s", ch.Field, ch.Key, string(ch.Before), string(ch.After))
			if ch.Anew {
				text += " anew"
			}
			texts = append(texts, text)
		}
		return texts
	}
	want := func(got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	}
	want(changes("creator", func(tx *Tx) {
		skillsMap(tx).Key("deploy").Weight().Raise(2)
		skillsMap(tx).Insert("bare")
	}), "skills bare:  -> {}", `skills deploy:  -> {"weight":2}`)
	want(changes("tool", func(tx *Tx) { skillsPart(tx).Key("deploy").UseCount().Add(4) }), `skills deploy:  -> {"use_count":4}`)
	want(changes("creator", func(tx *Tx) {
		skillsMap(tx).Delete("bare")
		skillsMap(tx).Delete("deploy")
		skillsMap(tx).Key("deploy").Weight().Raise(2)
		skillsMap(tx).Delete("absent")
	}), "skills bare: {} -> ", `skills deploy: {"weight":2} -> {"weight":2} anew`)
	want(changes("tool", func(tx *Tx) { // the part of before went with its key
		skillsPart(tx).Key("deploy").UseCount().Add(1)
		seenMap(tx).Key("a").Raise(1)
	}), "seen a:  -> 1", `skills deploy:  -> {"use_count":1}`)
	want(changes("tool", func(tx *Tx) {
		seenMap(tx).Key("a").Raise(0)
		seenMap(tx).Key("b").Raise(1)
		seenMap(tx).Delete("b")
	}))
}

func TestScalarMapsKeepAValueAtAKey(t *testing.T) {
	s := newUsage(t)
	s.update("tool", func(tx *Tx) {
		for i, key := range []string{"b", "a", "b"} {
			seenMap(tx).Key(key).Raise(uint64(3 - i))
		}
	})
	s.wantStored("tool", map[string]string{"seen": `{"a":2,"b":3}`})
	s.update("tool", func(tx *Tx) {
		if v, ok := seenMap(tx).Key("b").Get(); v != 3 || !ok {
			t.Errorf("b is %v, %v", v, ok)
		}
		if diff := cmp.Diff([]string{"a", "b"}, seenMap(tx).Keys()); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
		seenMap(tx).Delete("b")
	})
	s.wantStored("tool", map[string]string{"seen": `{"a":2}`})
}

// Two keys that differ in any byte are two keys, and no key is more than that.
// Cases 71, 72, 73 and 74: no two keys are one, whatever they look like.
func TestOddKeysAreKeys(t *testing.T) {
	s := newUsage(t)
	odd := []string{
		"a/b", "a.b", "a b", "a-b", "a_b", "a:b", "a%2Fb", "A_b", "构建", "发版", "\u00e9", "e\u0301", "A.1", "A.2", "A", "A.json", "A.json.tmp", ".A",
		"..", "__proto__", "constructor", "toString", "$sidecar", `"`, `\`, `\"`, "{", "null", " ", "\u2028", "\U0001f600",
	}
	s.update("tool", func(tx *Tx) {
		for i, key := range odd {
			seenMap(tx).Key(key).Raise(uint64(i))
		}
	})
	s.update("tool", func(tx *Tx) {
		for i, key := range odd {
			if v, ok := seenMap(tx).Key(key).Get(); v != uint64(i) || !ok {
				t.Errorf("%q is %v, %v, want %d", key, v, ok, i)
			}
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(odd)), seenMap(tx).Keys()); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
		for _, key := range odd[1:] {
			seenMap(tx).Delete(key)
		}
	})
	s.wantStored("tool", map[string]string{"seen": `{"a/b":0}`})
}

func TestKeysHaveBounds(t *testing.T) {
	s := newUsage(t)
	for key, says := range map[string]string{
		"":                       "cannot be empty",
		"a\nb":                   "control character U+000A",
		"\xff":                   "not valid UTF-8",
		fmt.Sprintf("%0257d", 0): "257 bytes, more than the 256 allowed",
		"\u0085":                 "control character U+0085",
		"a\x00":                  "control character U+0000",
	} {
		s.fails("tool", ErrValue, func(tx *Tx) { seenMap(tx).Key(key).Raise(1) }, says, "field seen")
	}
	s.update("tool", func(tx *Tx) { seenMap(tx).Key(fmt.Sprintf("%0256d", 0)).Raise(1) })
}

func TestAMapHasAMostOfKeys(t *testing.T) {
	s := newUsage(t)
	s.update("tool", func(tx *Tx) {
		for i := range 16384 {
			seenMap(tx).Key(fmt.Sprint(i)).Raise(1)
		}
	})
	s.fails("tool", ErrValue, func(tx *Tx) { seenMap(tx).Key("more").Raise(1) }, "more than the 16384 keys allowed: delete some")
	c := s.update("tool", func(tx *Tx) {
		seenMap(tx).Delete("7")
		seenMap(tx).Key("more").Raise(1)
		seenMap(tx).Key("8").Raise(2)
	})
	if c.Outcome != Applied {
		t.Errorf("one for another: %v", c)
	}
}
