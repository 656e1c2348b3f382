package reader_test

import (
	"os"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"pgregory.net/rapid"
)

// A causality is the model of what freshness says of one field that depends on
// others: how often each of those has changed, what of it is under way, and how
// often its writer had seen each change.
type causality struct {
	changes map[string]int
	open    map[string][]string // tokens
	seen    map[string]int      // nil: the writer did not say
	written bool
}

// verdict is the law: a change that is certain outweighs one that is possible,
// and that outweighs what nobody knows. No clock is in it.
func (c *causality) verdict(dependsOn []string) reader.Verdict {
	result := reader.Fresh
	for _, of := range dependsOn {
		switch {
		case !c.written:
			return reader.Unknown
		case c.seen != nil && c.changes[of] > c.seen[of]:
			return reader.Stale
		case len(c.open[of]) > 0:
			result = reader.Ambiguous
		case c.seen == nil && result == reader.Fresh:
			result = reader.Unknown
		}
	}
	return result
}

// Whatever is written, begun, done, abandoned and observed in whatever order,
// with clocks that jump by years, freshness is what the model says.
func TestFreshnessIsWhatTheModelSays(t *testing.T) {
	d := &schema.Declaration{State: "runtime", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{"at": {Type: schema.TypeTime, Kind: schema.Event}, "cleared": {Type: schema.TypeBool}}},
		"phase": {Fields: map[string]schema.Field{"phase": {Type: schema.TypeString}}},
		"cost":  {Fields: map[string]schema.Field{"tokens": {Type: schema.TypeUint, DependsOn: []string{"at", "phase"}}}},
	}}
	s := newState(t, d)
	r := s.open()
	dependsOn := d.Owners["cost"].Fields["tokens"].DependsOn
	rapid.Check(t, func(t *rapid.T) {
		for owner := range d.Owners {
			if err := os.Remove(s.path(owner)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		clear(s.docs)
		model := causality{changes: map[string]int{}, open: map[string][]string{}}
		var token sidecar.Seen // the last that was taken, and what it had seen
		var taken map[string]int
		change := func(owner string, do func(doc *document.Document, by document.Provenance)) {
			s.text(owner)
			at := now.AddDate(rapid.IntRange(-60, 60).Draw(t, "years"), 0, 0).Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "ns")))
			do(s.docs[owner], document.Provenance{Version: s.docs[owner].Version, At: at, Program: "x", PID: 1})
			s.rewrite(owner)
		}
		begin := func(*rapid.T) {
			nonce := statedir.NewNonce()
			change("reset", func(doc *document.Document, by document.Provenance) { doc.Begin("at", nonce, by) })
			model.open["at"] = append(model.open["at"], nonce)
		}
		observe := func(t *rapid.T) {
			var err error
			if token, err = view(s, r).ObserveFor("tokens"); err != nil {
				t.Fatal(err)
			}
			taken = map[string]int{"at": model.changes["at"], "phase": model.changes["phase"]}
		}
		end := func(done bool) func(*rapid.T) {
			return func(t *rapid.T) {
				if len(model.open["at"]) == 0 {
					begin(t)
				}
				i := rapid.IntRange(0, len(model.open["at"])-1).Draw(t, "token")
				change("reset", func(doc *document.Document, by document.Provenance) {
					doc.End("at", model.open["at"][i])
					switch value := doc.Value("at"); {
					case done:
						doc.Set("at", []byte(`"`+by.At.Format(time.RFC3339Nano)+`"`), by)
					case value == nil:
						doc.Clear("at", by)
					default:
						doc.Set("at", value, by)
					}
				})
				model.open["at"] = append(model.open["at"][:i:i], model.open["at"][i+1:]...)
				model.changes["at"]++
			}
		}
		write := func(seen sidecar.Seen) {
			change("cost", func(doc *document.Document, by document.Provenance) {
				doc.Set("tokens", []byte("5"), by)
				o := document.Observation{}
				for _, of := range seen.Fields() {
					o[of], _ = seen.Version(of)
				}
				doc.Observe("tokens", o)
			})
			model.written = true
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin":   begin,
			"done":    end(true),
			"abandon": end(false),
			"set phase": func(t *rapid.T) {
				change("phase", func(doc *document.Document, by document.Provenance) { doc.Set("phase", []byte(`"a"`), by) })
				model.changes["phase"]++
			},
			"clear phase": func(t *rapid.T) {
				change("phase", func(doc *document.Document, by document.Provenance) { doc.Clear("phase", by) })
				model.changes["phase"]++
			},
			"set a field beside": func(t *rapid.T) {
				change("reset", func(doc *document.Document, by document.Provenance) { doc.Set("cleared", []byte("true"), by) })
			},
			"observe": observe,
			"write": func(t *rapid.T) {
				if taken == nil {
					observe(t)
				}
				write(token)
				model.seen = taken
			},
			"write unobserved": func(t *rapid.T) { write(sidecar.Seen{}); model.seen = nil },
			"clear": func(t *rapid.T) {
				change("cost", func(doc *document.Document, by document.Provenance) { doc.Clear("tokens", by) })
				model.written = false
			},
			"": func(t *rapid.T) {
				v := view(s, r)
				if got, want := v.Field("tokens").Freshness(), model.verdict(dependsOn); got.Verdict != want {
					t.Fatalf("%s (%s), want %s: %+v", got.Verdict, got, want, model)
				}
				for _, o := range v.Owners() {
					if o.Err != nil {
						t.Fatal(o.Err)
					}
				}
			},
		})
	})
}
