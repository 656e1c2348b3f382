package adopt

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// bound reports parts that exceed a sidecar, before any owner is written.
func (p *planner) bound() {
	for _, owner := range slices.Sorted(maps.Keys(p.parts)) {
		by := document.Provenance{Version: document.Version{Epoch: 1 << 52, Revision: 1, Nonce: "0000000000000"}, At: time.Unix(0, 1), Program: "adopt"}
		doc := document.New(owner, "adopt")
		for _, v := range p.parts[owner].Values {
			if v.JSON != nil {
				doc.Set(v.Field, v.JSON, by)
			} else {
				doc.SetRows(v.Field, v.rows(by.Version), by)
			}
		}
		doc.Commit(by.Version, by.At, document.Writer{})
		if _, err := doc.Encode(); err != nil {
			p.complain("", "the fields of owner %s do not fit into one sidecar: %v: divide them among more owners", owner, err)
		}
	}
}

// rows returns the entries as rows of a map that was empty.
func (v Value) rows(born document.Version) []document.Row {
	rows := make([]document.Row, len(v.Entries))
	for i, e := range v.Entries {
		rows[i] = document.Row{Key: e.Key, Value: e.stored(), Born: born}
	}
	slices.SortFunc(rows, func(a, b document.Row) int { return strings.Compare(a.Key, b.Key) })
	return rows
}

// stored returns e as a map stores it at a new key.
func (e Entry) stored() []byte {
	var o schema.Object
	for _, m := range e.Members {
		if m.Name == "" {
			return m.JSON
		}
		o = o.With(m.Name, m.JSON)
	}
	return o.Append(nil)
}
