package main

import (
	"strings"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// An earlier is a file in the quarantine that was the sidecar of an owner and has
// a field that the owner has not written since.
type earlier struct {
	Path string `json:"path"`
	// Value of the field, if it is one that fits its declaration now.
	Value jsontext.Value `json:"value,omitzero"`

	unread bool // nobody can tell what is in it
}

// earlierOf returns the last file in the quarantine that was owner's sidecar and
// has the field, or else the last that cannot be read; nil if there is none. What
// is said of it may be missing: the quarantine is for people, and no part of a view.
func earlierOf(view *reader.View, owner, field string) *earlier {
	d, err := store.Open(view.Dir())
	if err != nil {
		return nil
	}
	defer d.Close()
	f := view.Declaration().Owners[owner].Fields[field]
	var last *earlier
	_ = d.Quarantined(store.Sidecar(owner), func(path string, raw []byte) {
		if e := heldIn(f, field, raw); e != nil && (last == nil || last.unread || !e.unread) {
			last = e
			last.Path = path
		}
	})
	return last
}

// heldIn returns what raw, in the place of a sidecar, has of a field.
func heldIn(f schema.Field, field string, raw []byte) *earlier {
	doc, err := document.DecodeForeign(raw)
	if err != nil {
		return &earlier{unread: true}
	}
	value := doc.Value(field)
	if value == nil {
		return nil
	}
	e := &earlier{}
	if fit, err := f.Normalize(value); err == nil && f.EffectiveKind() != schema.Map { // which may be large
		e.Value = fit
	}
	return e
}

// explain says what an earlier sidecar has of a field that nobody has written
// since, in lines that begin with margin.
func (e *earlier) explain(t *sentences, f schema.Field, margin string) {
	switch {
	case e.unread:
		t.say("%sThat cannot be read, and may have had the field: %s.", margin, visible(e.Path))
	case e.Value == nil:
		t.say("%sThat has the field: %s.", margin, visible(e.Path))
	default:
		t.say("%sThere it is %s: %s.", margin, strings.TrimSpace(shownValue(f, e.Value)+" "+visible(f.Unit)), visible(e.Path))
	}
	t.say("%sWhat is to count of that has to be written again.", margin)
}
