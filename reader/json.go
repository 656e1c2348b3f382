package reader

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// MarshalJSON returns the set fields, in their stored digits and escapes, each
// field's provenance, and each owner's status. Equal views give equal bytes.
func (v *View) MarshalJSON() ([]byte, error) {
	return Marshal(v, error.Error)
}

// Marshal returns v as [View.MarshalJSON] does, with says(err) as the text of
// each error: a command adds the remedy.
func Marshal(v *View, says func(error) string) ([]byte, error) {
	var buf bytes.Buffer
	w := printer{enc: jsontext.NewEncoder(&buf, jsontext.PreserveRawStrings(true)), says: says}
	names := slices.Sorted(maps.Keys(v.declared.fields))
	w.object(func() {
		w.text("state", v.State())
		w.text("dir", v.dir)
		w.member("snapshot", func() {
			w.text("consistency", string(v.consistency))
			w.text("id", v.id)
		})
		w.member("fields", func() {
			for _, name := range names {
				if raw := v.Field(name).readable(); raw != nil {
					w.value(name, raw)
				}
			}
		})
		w.member("provenance", func() {
			for _, name := range names {
				w.member(name, func() { w.provenance(v.Field(name)) })
			}
		})
		w.member("owners", func() {
			for _, o := range v.owners {
				w.member(o.Name, func() { w.owner(o, v.declared.defers[o.Name]) })
			}
		})
	})
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), w.err
}

// A printer writes JSON and remembers the first error.
type printer struct {
	enc  *jsontext.Encoder
	says func(error) string
	err  error
}

func (w *printer) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

func (w *printer) object(members func()) {
	w.token(jsontext.BeginObject)
	members()
	w.token(jsontext.EndObject)
}

func (w *printer) member(name string, members func()) {
	w.token(jsontext.String(name))
	w.object(members)
}

func (w *printer) array(name string, elements func()) {
	w.token(jsontext.String(name))
	w.token(jsontext.BeginArray)
	elements()
	w.token(jsontext.EndArray)
}

func (w *printer) text(name, value string) {
	w.token(jsontext.String(name))
	w.token(jsontext.String(strings.ToValidUTF8(value, "\uFFFD"))) // a path may be any bytes
}

func (w *printer) number(name string, n uint64) {
	w.token(jsontext.String(name))
	w.token(jsontext.Uint(n))
}

func (w *printer) value(name string, raw jsontext.Value) {
	w.token(jsontext.String(name))
	if w.err == nil {
		w.err = w.enc.WriteValue(raw)
	}
}

func (w *printer) version(v store.Version) {
	w.number("epoch", v.Epoch)
	w.number("revision", v.Revision)
}

// readable returns the entry's JSON; of a map, the readable part; or nil.
func (e Entry) readable() jsontext.Value {
	p, err := e.place()
	if err == nil && p.field.EffectiveKind() == schema.Map {
		joined, _ := e.join(p)
		return joined.raw
	}
	raw, _ := e.Raw()
	return raw
}

// provenance prints the provenance of a declared field, and of a map of several
// owners, that of each part.
func (w *printer) provenance(e Entry) {
	p, _ := e.place()
	errs := e.misfits(p)
	w.from(e, p.owner, errs)
	if len(p.parts) == 0 {
		return
	}
	w.member("parts", func() {
		for _, i := range p.parts {
			w.member(e.view.owners[i].Name, func() { w.from(e, i, errs) })
		}
	})
}

// misfits returns the errors of the field by owner.
func (e Entry) misfits(p place) map[int]error {
	if p.field.EffectiveKind() == schema.Map {
		joined, err := e.join(p)
		if err != nil {
			return map[int]error{p.owner: err}
		}
		return joined.errs
	}
	_, err := e.Raw()
	return map[int]error{p.owner: err}
}

// from prints the provenance of the i-th owner's part of a field.
func (w *printer) from(e Entry, i int, errs map[int]error) {
	p, ok := e.provenance(e.view.owners[i])
	if e.isOnce() {
		p, ok = e.claim().provenance()
	}
	w.text("owner", p.Owner)
	w.text("file", p.File)
	if ok {
		if p.Claim == "" {
			w.version(p.Version)
		} else {
			w.text("claim", p.Claim)
		}
		if p.Version.IsPending() {
			w.text("pending_patch", p.Version.Nonce)
		}
		at, err := schema.Time.Append(nil, p.ChangedAt)
		if err != nil {
			w.err = err
		}
		w.value("changed_at", at)
		w.text("program", p.Program)
		w.number("pid", uint64(p.PID))
	}
	status := p.Status
	if errors.Is(errs[i], store.Invalid) {
		status = store.Invalid // perhaps of this field alone
	}
	w.text("status", string(status))
	w.open(e)
	if spec := e.view.declared.fields[e.name].field; spec.Dependent() {
		fresh := e.Freshness()
		w.text("freshness", string(fresh.Verdict))
		w.text("reason", string(fresh.Reason))
		w.observed(p.Observed)
	}
}

func (w *printer) observed(seen store.Seen) {
	if seen.IsZero() {
		return
	}
	w.member("observed", func() {
		for _, name := range seen.Fields() {
			version, _ := seen.Version(name)
			w.text(name, version.String())
		}
	})
}

// owner prints the status of o; pending is whether o defers.
func (w *printer) owner(o *owner, pending bool) {
	w.text("status", string(o.Status))
	if !o.Version.IsZero() {
		w.version(o.Version)
	}
	if o.Status == store.OK || o.Status == store.Missing || o.Status == store.Regressed {
		w.text("version", o.Version.String()) // for a conditional commit
	}
	if pending {
		w.number("pending", uint64(o.Pending))
	}
	if o.PendingErr != nil {
		w.text("pending_error", w.says(o.PendingErr))
	}
	if o.Err != nil {
		w.text("error", w.says(o.Err))
	}
}
