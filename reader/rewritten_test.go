package reader_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Row FG10: of a sidecar that another hand rewrites in place, over and over, by a
// longer and a shorter one, a view shows one or the other whole or says that it is
// damaged; it never mixes the two, and hides nobody else.
func TestASidecarRewrittenInPlaceIsNeverMixed(t *testing.T) {
	s := newState(t, declaration())
	statetest.Damaged(s.dir, "sidecar-invalid", "sidecar-foreign")
	s.commit("cost", "turns", "7")
	var texts [][]byte
	for n, length := range []int{10, 30_000, 20_000} {
		note := fmt.Sprintf("%q", strings.Repeat(fmt.Sprint(n), length))
		texts = append(texts, s.text("watchdog", "load", fmt.Sprint(n), "note", note))
	}
	s.put("watchdog", texts[0])
	done := make(chan struct{})
	var hand sync.WaitGroup
	hand.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			if err := os.WriteFile(s.path("watchdog"), texts[n%len(texts)], 0o600); err != nil {
				t.Error(err)
				return
			}
		}
	})
	r := s.open()
	whole, damaged := map[float64]int{}, 0
	for looks := 0; (looks < 1000 || len(whole) < 2 || damaged == 0) && !t.Failed(); looks++ {
		v := view(t, r)
		if got := turns(t, v); got != 7 {
			t.Errorf("the other owner's field is %d", got)
		}
		o, _ := v.Owner("watchdog")
		note, err := reader.FieldOf(v, "note", schema.String).Get()
		load, err2 := reader.FieldOf(v, "load", schema.Float).Get()
		if (o.Status == store.OK) != (err == nil) || (err == nil) != (err2 == nil) {
			t.Errorf("the owner is %s (%v), its fields are %v and %v", o.Status, o.Err, err, err2)
		}
		if err != nil {
			damaged++
			continue
		}
		if strings.Trim(note, fmt.Sprint(load)) != "" {
			t.Errorf("load %v with a note of %d bytes that begins %.20q", load, len(note), note)
		}
		whole[load]++
	}
	close(done)
	hand.Wait()
	t.Logf("whole: %v; %d damaged", whole, damaged)
}
