package declare_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/google/go-cmp/cmp"
)

// What one sidecar could not hold is refused where the owner is declared.
func TestMoreThanAFileHoldsIsRefused(t *testing.T) {
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "      f%d: {type: int}\n", i)
		}
		return "state: s\nowners:\n  a:\n    fields:\n      x: {type: int}\n  b:\n    fields:\n" + b.String()
	}
	if _, err := declare.Parse("owners.yaml", "owners/s", []byte(fields(schema.MaxFields))); err != nil {
		t.Errorf("%d fields: %.200v", schema.MaxFields, err)
	}
	_, err := declare.Parse("owners.yaml", "owners/s", []byte(fields(schema.MaxFields+1)))
	problems, _ := errors.AsType[declare.Problems](err)
	want := declare.Problems{{File: "owners.yaml", Line: 6, Col: 3, What: "owner b has 4096 fields, and its one file may have 4095: give some of them to another owner, or make a map of them"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

// The caps agree: whoever has as many fields as one owner may have says three
// things of each, in either of YAML's styles, and the manifest holds them.
func TestTheMostFieldsFitEveryCap(t *testing.T) {
	for style, field := range map[string]string{
		"flow":  "   f%d: {type: int, kind: max, doc: X}\n",
		"block": "   f%d:\n    type: int\n    kind: max\n    doc: X\n",
	} {
		t.Run(style, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("# a page\nstate: s\nowners:\n a:\n  fields:\n")
			for i := range schema.MaxFields {
				fmt.Fprintf(&b, field, i)
			}
			source, err := declare.Parse("owners.yaml", "owners/s", []byte(b.String()))
			if err != nil {
				t.Fatalf("%.400v", err)
			}
			m := schema.Manifest{Format: schema.ManifestFormat, StateID: strings.Repeat("0", 26), Declaration: *source.Declaration}
			if _, err := m.Marshal(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A view reads a file of each owner, and its locks are files too.
func TestMoreOwnersThanAStateHoldsAreRefused(t *testing.T) {
	owners := func(n int) []byte {
		var b strings.Builder
		b.WriteString("state: s\nowners:\n")
		for i := range n {
			fmt.Fprintf(&b, "  o%d: {fields: {f%d: {type: int}}}\n", i, i)
		}
		return []byte(b.String())
	}
	if _, err := declare.Parse("owners.yaml", "owners/s", owners(schema.MaxOwners)); err != nil {
		t.Errorf("%d owners: %.200v", schema.MaxOwners, err)
	}
	_, err := declare.Parse("owners.yaml", "owners/s", owners(schema.MaxOwners+1))
	problems, _ := errors.AsType[declare.Problems](err)
	want := declare.Problems{{File: "owners.yaml", Line: 3, Col: 3, What: "the state has 257 owners and may have 256: declare several states"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

// unknown declares as many fields as may be, each of which depends on one that
// nobody declares.
func unknown(n int) []byte {
	var b strings.Builder
	b.WriteString("state: s\nowners:\n b: {fields: {right: {type: int}}}\n a:\n  fields:\n")
	for i := range n {
		fmt.Fprintf(&b, "   f%d: {type: int, depends_on: [rigth]}\n", i)
	}
	return []byte(b.String())
}

// To look for what a name was meant to be takes as long as there are names, so
// that it is not done for all of thousands.
func TestOnlyTheFirstMisspeltNamesAreGuessedAt(t *testing.T) {
	_, err := declare.Parse("owners.yaml", "owners/s", unknown(100))
	problems, _ := errors.AsType[declare.Problems](err)
	guessed := 0
	for _, p := range problems {
		if strings.HasSuffix(p.What, ": did you mean right?") {
			guessed++
		} else if !strings.HasSuffix(p.What, ": name a field of another owner") {
			t.Errorf("it does not say what to do: %v", p)
		}
	}
	if len(problems) != 100 || guessed != 16 {
		t.Errorf("%d problems, %d of them with a guess, want 100 and 16", len(problems), guessed)
	}
}

// BenchmarkLargest shows how long the largest declarations take to read, and an
// edit of them: a fifth of a second, right or wrong.
func BenchmarkLargest(b *testing.B) {
	fields := func(open, one string, n int, last string) []byte {
		var b strings.Builder
		b.WriteString(open)
		for i := range n {
			fmt.Fprintf(&b, one, i)
		}
		return []byte(b.String() + last)
	}
	const owner = "state: s\nowners:\n a:\n  fields:\n"
	for shape, text := range map[string][]byte{
		"fields":   fields(owner, "   f%d: {type: int}\n", 4000, ""),
		"members":  fields(owner+"   m: {kind: map, keys: true, record: {", "f%d: {type: int},", 4000, "}}\n"),
		"mistakes": fields(owner, "   F%d: {typ: nt}\n", 4000, ""),
		"unknown":  unknown(3000),
		"names":    fields(owner, "   f_%d: {type: int, go: F}\n", 3000, ""),
		"comments": fields(owner, "   #%d\n", 10_000, "   f: {type: int}\n"),
		"text":     []byte(owner + "   f: {type: int, doc: \"" + strings.Repeat(`\u0301`, 40_000) + "\"}\n"),
	} {
		b.Run(shape, func(b *testing.B) {
			for b.Loop() {
				declare.Parse("owners.yaml", ".", text)
				declare.AddField(text, "a", "added", schema.Field{Type: schema.TypeBool})
			}
		})
	}
}
