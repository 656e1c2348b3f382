package reader_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A model is what the state of usage should be, as plainly as it can be said.
type model struct {
	born   map[string]int // the incarnation of each key of skills
	made   int            // how many there were
	by     map[string]string
	uses   map[string]attached[uint64]
	pins   map[string]attached[bool]
	seen   map[string]uint64
	labels map[string]bool
}

type attached[T any] struct {
	born  int
	value T
}

func newModel() *model {
	return &model{born: map[string]int{}, by: map[string]string{}, uses: map[string]attached[uint64]{}, pins: map[string]attached[bool]{}, seen: map[string]uint64{}, labels: map[string]bool{}}
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.born), m.made, maps.Clone(m.by), maps.Clone(m.uses), maps.Clone(m.pins), maps.Clone(m.seen), maps.Clone(m.labels)}
}

func (m *model) create(key string) {
	if _, ok := m.born[key]; !ok {
		m.made++
		m.born[key] = m.made
	}
}

// An action is an operation as the library takes it and as the model does,
// which says whether it is possible.
type action struct {
	owner string
	op    string
	do    func(m *model) bool
}

// draw draws an action of owner. Most are about one key, so that much happens
// to it.
func draw(t *rapid.T, owner string) action {
	key := rapid.SampledFrom([]string{"deploy", "deploy", "deploy", "deploy", "a/b", "A_b", "a_b", "é", "e\u0301", "__proto__"}).Draw(t, "key")
	n := rapid.Uint64Range(0, 9).Draw(t, "n")
	op := func(field, verb, rest string, args ...any) string {
		return fmt.Sprintf(`{"field":%q,"op":%q`+rest+`}`, append([]any{field, verb}, args...)...)
	}
	all := []action{
		{"creator", op("skills", "insert", `,"key":%q`, key), func(m *model) bool { m.create(key); return true }},
		{"creator", op("skills", "delete", `,"key":%q`, key), func(m *model) bool { delete(m.born, key); delete(m.by, key); return true }},
		{"creator", op("skills", "set", `,"key":%q,"member":"created_by","value":"%d"`, key, n), func(m *model) bool {
			m.create(key)
			m.by[key] = fmt.Sprint(n)
			return true
		}},
		{"creator", op("skills", "clear", `,"key":%q,"member":"created_by"`, key), func(m *model) bool { delete(m.by, key); return true }},
		{"tool", op("skills", "add", `,"key":%q,"member":"use_count","value":%d`, key, n), func(m *model) bool {
			return attach(m, m.uses, key, func(old uint64) uint64 { return old + n })
		}},
		{"user", op("skills", "set", `,"key":%q,"member":"pinned","value":%t`, key, n > 4), func(m *model) bool {
			return attach(m, m.pins, key, func(bool) bool { return n > 4 })
		}},
		{"user", op("skills", "clear", `,"key":%q,"member":"pinned"`, key), func(m *model) bool {
			_, ok := m.born[key]
			delete(m.pins, key)
			return ok
		}},
		{"tool", op("seen", "raise", `,"key":%q,"value":%d`, key, n), func(m *model) bool {
			m.seen[key] = max(m.seen[key], n)
			return true
		}},
		{"tool", op("seen", "delete", `,"key":%q`, key), func(m *model) bool { delete(m.seen, key); return true }},
		{"tool", op("labels", "insert", `,"value":%q`, key), func(m *model) bool { m.labels[key] = true; return true }},
		{"tool", op("labels", "remove", `,"value":%q`, key), func(m *model) bool { delete(m.labels, key); return true }},
	}
	own := slices.DeleteFunc(all, func(a action) bool { return a.owner != owner })
	return rapid.SampledFrom(own).Draw(t, "action")
}

// attach changes what an owner has at a key, if there is one.
func attach[T any](m *model, have map[string]attached[T], key string, change func(T) T) bool {
	born, ok := m.born[key]
	if !ok {
		return false
	}
	var old T
	if a := have[key]; a.born == born {
		old = a.value
	}
	have[key] = attached[T]{born, change(old)}
	return true
}

// shown is what a view of the model shows of each field; "" if it is unset.
func (m *model) shown(written map[string]bool) map[string]string {
	skills := joinSorted(m.born, func(key string) string {
		var members []string
		if by, ok := m.by[key]; ok {
			members = append(members, fmt.Sprintf(`"created_by":%q`, by))
		}
		if a, ok := m.pins[key]; ok && a.born == m.born[key] {
			members = append(members, fmt.Sprintf(`"pinned":%t`, a.value))
		}
		if a, ok := m.uses[key]; ok && a.born == m.born[key] {
			members = append(members, fmt.Sprintf(`"use_count":%d`, a.value))
		}
		return fmt.Sprintf("%q:{%s}", key, strings.Join(members, ","))
	})
	all := map[string]string{
		"skills": "{" + skills + "}",
		"seen":   "{" + joinSorted(m.seen, func(key string) string { return fmt.Sprintf("%q:%d", key, m.seen[key]) }) + "}",
		"labels": "[" + joinSorted(m.labels, func(label string) string { return fmt.Sprintf("%q", label) }) + "]",
	}
	maps.DeleteFunc(all, func(field, _ string) bool { return !written[field] })
	return all
}

func joinSorted[T any](all map[string]T, text func(key string) string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, text(key))
	}
	return strings.Join(parts, ",")
}

// TestViewsShowWhatTheModelSays carries out random commits of three owners on a
// state and on the model, and compares every view.
func TestViewsShowWhatTheModelSays(t *testing.T) {
	base := t.TempDir()
	rounds := 0
	rapid.Check(t, func(r *rapid.T) {
		rounds++
		s := written{t, filepath.Join(base, fmt.Sprint(rounds))}
		if err := sidecar.Create(s.dir, usage()); err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(s.dir)
		reading, err := reader.Open(s.dir)
		if err != nil {
			r.Fatal(err)
		}
		defer reading.Close()
		m, wrote := newModel(), map[string]bool{}
		for range rapid.IntRange(10, 25).Draw(r, "commits") {
			m = commit(r, s, m, wrote)
			v, err := reading.View(t.Context())
			if err != nil {
				r.Fatal(err)
			}
			got := map[string]string{}
			for field := range map[string]bool{"skills": true, "seen": true, "labels": true} {
				if raw, err := v.Field(field).Raw(); err == nil {
					got[field] = string(raw)
				}
			}
			if diff := cmp.Diff(m.shown(wrote), got); diff != "" {
				r.Fatalf("the view (-model +view):\n%s", diff)
			}
		}
	})
}

// commit carries out one commit of one owner, all of it or nothing, and returns
// the model after it.
func commit(r *rapid.T, s written, m *model, wrote map[string]bool) *model {
	after, possible := m.clone(), true
	var ops []string
	owner := rapid.SampledFrom([]string{"creator", "creator", "tool", "tool", "user"}).Draw(r, "owner")
	for range rapid.IntRange(1, 3).Draw(r, "operations") {
		a := draw(r, owner)
		ops = append(ops, a.op)
		possible = possible && a.do(after)
	}
	err := s.apply(owner, ops...)
	if (err == nil) != possible {
		r.Fatalf("%s: %s: possible %v: %v", owner, ops, possible, err)
	}
	if !possible {
		return m
	}
	v := s.view()
	for _, field := range []string{"skills", "seen", "labels"} {
		if by, ok := v.Field(field).Provenance(); ok && by.Owner == map[string]string{"skills": "creator"}[field] || ok && field != "skills" {
			wrote[field] = true
		}
	}
	return after
}
