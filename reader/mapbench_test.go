package reader_test

import (
	"fmt"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
)

// BenchmarkMap shows what a view costs of a map that has changed, and then what
// one key of it costs.
func BenchmarkMap(b *testing.B) {
	for _, keys := range []int{100, 1000, 10000} {
		s := newState(b, usage())
		texts := [2][]byte{s.rows("tool", keys, "1"), s.rows("tool", keys, "2")}
		r := s.open()
		b.Run(fmt.Sprintf("changed/%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				s.put("tool", texts[i%2])
				b.StartTimer()
				view(b, r)
			}
		})
		b.Run(fmt.Sprintf("unchanged/%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				view(b, r)
			}
		})
		v := view(b, r)
		b.Run(fmt.Sprintf("key/%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := seen(v).Key("fact:000007").Get(); n == 0 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
		b.Run(fmt.Sprintf("json/%d", keys), func(b *testing.B) {
			for b.Loop() {
				if _, err := v.MarshalJSON(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// rows returns the text of owner's sidecar in which the map seen has that many
// keys, each with the value.
func (s *state) rows(owner string, keys int, value string) []byte {
	s.Helper()
	v := document.Version{Epoch: 1786439564031000, Revision: 1, Nonce: statedir.NewNonce()}
	d := document.New(owner, s.id)
	d.Commit(v, now, document.Writer{Program: "bench", Identity: statedir.Self()})
	var rows []document.Row
	for i := range keys {
		rows = append(rows, document.Row{Key: fmt.Sprintf("fact:%06d", i), Value: []byte(value), Born: v})
	}
	d.SetRows("seen", rows, document.Provenance{Version: v, At: now, Program: "bench", PID: 4711})
	text, err := d.Encode()
	if err != nil {
		s.Fatal(err)
	}
	return text
}
