package explain

import (
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// An Earlier is a quarantined sidecar that has a field which its owner has not
// written since.
type Earlier struct {
	Path string `json:"path"`
	// Value of the field, if it fits the present declaration.
	Value jsontext.Value `json:"value,omitzero"`

	Unread bool `json:"-"` // the file cannot be read as a sidecar
}

// earlier returns the newest quarantined sidecar of owner that has the field,
// else the newest that cannot be read, else nil. It is not part of the view:
// an error in reading the quarantine counts as an empty one.
func earlier(view *reader.View, owner, field string) *Earlier {
	d, err := store.Open(view.Dir())
	if err != nil {
		return nil
	}
	defer d.Close()
	f := view.Declaration().Owners[owner].Fields[field]
	var last *Earlier
	_ = d.Quarantined(owner, field, func(path string, value []byte, err error) {
		if e := inQuarantine(f, value, err); e != nil && (last == nil || last.Unread || !e.Unread) {
			last = e
			last.Path = path
		}
	})
	return last
}

// inQuarantine returns the field of a quarantined sidecar, or nil.
func inQuarantine(f schema.Field, value []byte, err error) *Earlier {
	if err != nil {
		return &Earlier{Unread: true}
	}
	if value == nil {
		return nil
	}
	e := &Earlier{}
	if fit, err := f.Normalize(value); err == nil && f.EffectiveKind() != schema.Map { // a map may be large
		e.Value = fit
	}
	return e
}
