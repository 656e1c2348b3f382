package sidecar

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/google/go-cmp/cmp"
)

// usage declares what values of every kind are made of: a map of three owners,
// whose keys the creator decides, and fields of the tool's own.
func usage() *schema.Declaration {
	target := schema.Field{Type: schema.TypeRecord, Fields: map[string]schema.Field{"host": {Type: schema.TypeString}, "port": {Type: schema.TypeUint}}}
	return &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"creator": {Durability: schema.Process, Fields: map[string]schema.Field{"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{
			"created_by": {Type: schema.TypeString},
			"weight":     {Type: schema.TypeInt, Kind: schema.Max},
		}}}},
		"tool": {Durability: schema.Process, Fields: map[string]schema.Field{
			"skills": {Kind: schema.Map, Record: map[string]schema.Field{
				"use_count": {Type: schema.TypeUint, Kind: schema.Counter},
				"last_used": {Type: schema.TypeTime, Kind: schema.Max},
				"target":    target,
			}},
			"seen":   {Kind: schema.Map, Value: &schema.Field{Type: schema.TypeUint, Kind: schema.Max}},
			"labels": {Kind: schema.Set, Type: schema.TypeString},
			"ports":  {Kind: schema.Set, Type: schema.TypeInt},
			"tags":   {Type: schema.TypeList, Of: &schema.Field{Type: schema.TypeString}},
			"hosts":  {Type: schema.TypeList, Of: &target},
			"target": target,
			"extra":  {Type: schema.TypeJSON},
			"turns":  {Type: schema.TypeUint, Kind: schema.Counter},
		}},
		"user": {Durability: schema.Process, Fields: map[string]schema.Field{"skills": {Kind: schema.Map, Record: map[string]schema.Field{"pinned": {Type: schema.TypeBool}}}}},
	}}
}

// A target is what package gen makes of the record.
type target struct {
	Host schema.Optional[string]
	Port schema.Optional[uint64]
	rest schema.Rest
}

func (v *target) JSONMembers() schema.Members {
	return schema.MembersOf(&v.rest, schema.MemberOf("host", schema.String, &v.Host), schema.MemberOf("port", schema.Uint, &v.Port))
}

// A skill is what package gen makes of what the tool has at a key.
type skill struct{ e Entry }

func (s skill) UseCount() Counter[uint64] { return CounterIn(s.e, "use_count", schema.Uint) }
func (s skill) Target() Value[target]     { return ValueIn(s.e, "target", schema.RecordOf[target]()) }

func skillsPart(tx *Tx) Part[skill] {
	return PartOf(tx, "skills", func(e Entry) skill { return skill{e} })
}

// A creation is what package gen makes of what the creator has at a key.
type creation struct{ e Entry }

func (c creation) CreatedBy() Value[string] { return ValueIn(c.e, "created_by", schema.String) }
func (c creation) Weight() Max[int64]       { return MaxIn(c.e, "weight", schema.Int) }

func skillsMap(tx *Tx) Map[creation] {
	return MapOf(tx, "skills", func(e Entry) creation { return creation{e} })
}

func seenMap(tx *Tx) Map[Max[uint64]] {
	return MapOf(tx, "seen", func(e Entry) Max[uint64] { return MaxIn(e, "", schema.Uint) })
}

// A usageState is a state of that declaration.
type usageState struct {
	*testing.T
	dir string
}

func newUsage(t *testing.T) usageState {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "usage")
	if err := Create(dir, usage()); err != nil {
		t.Fatal(err)
	}
	return usageState{t, dir}
}

func (s usageState) open(owner string) *Writer {
	s.Helper()
	w, err := Open(s.Context(), s.dir, usage(), owner, &Options{Program: owner + "-test"})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { w.Close() })
	return w
}

// update runs fn as owner and returns what became of it.
func (s usageState) update(owner string, fn func(*Tx)) Commit {
	s.Helper()
	return update(s.T, s.open(owner), func(tx *Tx) error {
		fn(tx)
		return nil
	})
}

// fails runs fn as owner, which must fail with want and change nothing.
func (s usageState) fails(owner string, want error, fn func(*Tx), says ...string) {
	s.Helper()
	before := s.text(owner)
	c, err := s.open(owner).Update(s.Context(), func(tx *Tx) error {
		fn(tx)
		return nil
	})
	wantError(s.T, err, want, says...)
	if !same(c, Commit{}) || s.text(owner) != before {
		s.Errorf("a failed update left %+v and\n%s", c, s.text(owner))
	}
}

func (s usageState) text(owner string) string {
	if doc := s.doc(owner); doc != nil {
		text, err := doc.Encode()
		if err != nil {
			s.Fatal(err)
		}
		return string(text)
	}
	return ""
}

// doc returns owner's sidecar as it is on disk, or nil.
func (s usageState) doc(owner string) *document.Document {
	s.Helper()
	var doc *document.Document
	w := s.open(owner)
	if _, err := w.Update(context.Background(), func(tx *Tx) error {
		doc = tx.batch.base
		return errors.New("only looking")
	}); doc == nil {
		s.Fatal(err)
	}
	if doc.Version.IsZero() {
		return nil
	}
	return doc
}

// stored returns the values in owner's sidecar by field.
func (s usageState) stored(owner string) map[string]string {
	s.Helper()
	values := map[string]string{}
	doc := s.doc(owner)
	if doc == nil {
		return values
	}
	for _, name := range doc.Names() {
		raw, _, _ := doc.Field(name)
		values[name] = string(raw)
	}
	return values
}

func (s usageState) wantStored(owner string, want map[string]string) {
	s.Helper()
	if diff := cmp.Diff(want, s.stored(owner)); diff != "" {
		s.Errorf("%s.json (-want +got):\n%s", owner, diff)
	}
}

// born returns the incarnation that owner's sidecar gives a key of skills.
func (s usageState) born(owner, key string) Version {
	s.Helper()
	doc := s.doc(owner)
	if doc == nil {
		return Version{}
	}
	rows, err := doc.Rows("skills")
	if err != nil {
		s.Fatal(err)
	}
	for _, row := range rows {
		if row.Key == key {
			return row.Born
		}
	}
	return Version{}
}

// edit replaces old by new in owner's sidecar, as a hand other than Freehold's.
func (s usageState) edit(owner, old, new string) {
	s.Helper()
	text := readFile(s.T, sidecarPath(s.dir, owner))
	if !strings.Contains(text, old) {
		s.Fatalf("no %s in\n%s", old, text)
	}
	s.overwrite(owner, strings.Replace(text, old, new, 1))
}

func (s usageState) overwrite(owner, text string) {
	s.Helper()
	if err := os.WriteFile(sidecarPath(s.dir, owner), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}
