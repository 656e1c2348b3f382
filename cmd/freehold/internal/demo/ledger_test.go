package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
)

var noon = time.Date(2026, 8, 11, 12, 0, 0, 0, time.UTC)

// afterTwo returns a ledger of two rows of a dollar each, with two updates of
// each program acknowledged, and the state that holds them.
func afterTwo(t *testing.T) (*ledger, standing) {
	t.Helper()
	l := newLedger(newCostLog(t.TempDir() + "/log"))
	var s standing
	for i, decision := range []string{"no-entry", "act"} {
		size, err := l.log.grow(row{[]byte("row\n"), decimal.NewFromInt(1)})
		if err != nil {
			t.Fatal(err)
		}
		s = standing{noon.Add(time.Duration(i) * time.Second), decimal.NewFromInt(int64(i) + 1), size, decision}
		l.see(s)
		l.acknowledge(update{program: sessionstart, after: s.resetAt}, s)
		l.acknowledge(update{program: stop, upTo: size}, s)
		l.acknowledge(update{program: tick, decision: decision}, s)
	}
	return l, s
}

func TestEveryUpdateThatIsNotThereIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		lose func(s *standing)
		want map[string]int
	}{
		"nothing":            {func(*standing) {}, map[string]int{}},
		"the newest stamp":   {func(s *standing) { s.resetAt = noon }, map[string]int{sessionstart: 1}},
		"all stamps":         {func(s *standing) { s.resetAt = time.Time{} }, map[string]int{sessionstart: 2}},
		"the newest row":     {func(s *standing) { s.offset, s.total = 4, decimal.NewFromInt(1) }, map[string]int{stop: 1}},
		"the newest verdict": {func(s *standing) { s.decision = "no-entry" }, map[string]int{tick: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			l, s := afterTwo(t)
			test.lose(&s)
			l.see(s)
			l.settle(s)
			got := map[string]int{}
			for _, h := range l.tally().Hooks {
				if h.Updates != 2 {
					t.Errorf("%d updates of %s, want 2", h.Updates, h.Program)
				}
				if h.Lost > 0 {
					got[h.Program] = h.Lost
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("lost (-want +got):\n%s", diff)
			}
		})
	}
}

// An update may be there at the end only because a later one made up for it.
func TestAnUpdateThatWasNotThereAtOnceStaysLost(t *testing.T) {
	l, s := afterTwo(t)
	l.acknowledge(update{program: sessionstart, after: noon.Add(time.Hour)}, s)
	s.resetAt = noon.Add(2 * time.Hour)
	l.see(s)
	l.settle(s)
	if got := l.tally(); got.Lost != 1 || len(got.Broken) > 0 {
		t.Errorf("%d lost, want 1; broken: %q", got.Lost, got.Broken)
	}
}

func TestEveryViewIsHeldAgainstTheLaws(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(s *standing)
		want  string
	}{
		"whole":                       {func(*standing) {}, ""},
		"stamp moved back":            {func(s *standing) { s.resetAt = noon }, "last_context_reset_at moved back from 2026-08-11T12:00:01.000Z to 2026-08-11T12:00:00.000Z"},
		"offset moved back":           {func(s *standing) { s.offset, s.total = 4, decimal.NewFromInt(1) }, "log_offset moved back from 8 to 4"},
		"half a row":                  {func(s *standing) { s.offset = 9 }, "log_offset is 9, where no row of the log ends"},
		"a tenth of a cent too much":  {func(s *standing) { s.total = decimal.RequireFromString("2.001") }, "total_usd is 2.001, and the rows up to byte 8 sum up to 2"},
		"a row counted, not recorded": {func(s *standing) { s.total = decimal.NewFromInt(3) }, "total_usd is 3, and the rows up to byte 8 sum up to 2"},
	} {
		t.Run(name, func(t *testing.T) {
			l, s := afterTwo(t)
			test.spoil(&s)
			l.see(s)
			if got := strings.Join(l.broken, "; "); got != test.want {
				t.Errorf("complaints %q, want %q", got, test.want)
			}
		})
	}
}

func TestTheLastViewMustHaveTheWholeLog(t *testing.T) {
	l, s := afterTwo(t)
	if _, err := l.log.grow(row{[]byte("row\n"), decimal.NewFromInt(1)}); err != nil {
		t.Fatal(err)
	}
	l.settle(s)
	want := []string{"total_usd is 2 at byte 8, and all 12 bytes of the log sum up to 3"}
	if diff := cmp.Diff(want, l.broken); diff != "" {
		t.Errorf("complaints (-want +got):\n%s", diff)
	}
}
