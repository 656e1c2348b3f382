package demo

import (
	"fmt"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/shopspring/decimal"
)

// The fields that the demo watches.
const (
	fieldReset    = "last_context_reset_at"
	fieldTotal    = "total_usd"
	fieldOffset   = "log_offset"
	fieldDecision = "last_decision"
)

// A standing is what a view says of the fields that the hooks write.
type standing struct {
	resetAt  time.Time
	total    decimal.Decimal
	offset   uint64
	decision string
}

func standingOf(v *reader.View) (s standing, err error) {
	if s.resetAt, err = reader.FieldOf(v, fieldReset, schema.Time{}).OrUnset(time.Time{}); err != nil {
		return s, err
	}
	if s.total, err = reader.FieldOf(v, fieldTotal, schema.Decimal{}).OrUnset(decimal.Decimal{}); err != nil {
		return s, err
	}
	if s.offset, err = reader.FieldOf(v, fieldOffset, schema.Uint{}).OrUnset(0); err != nil {
		return s, err
	}
	s.decision, err = reader.FieldOf(v, fieldDecision, schema.String{}).OrUnset("")
	return s, err
}

// An update is what a call of a program has acknowledged, by ending without a
// complaint.
type update struct {
	program  string
	after    time.Time // sessionstart: it has stamped this moment or a later one
	upTo     uint64    // stop: it has recorded the log up to here or further
	decision string    // tick: it has recorded this decision
}

// holds reports whether the update is in s. A decision holds only until the
// next one.
func (s standing) holds(u update) bool {
	switch u.program {
	case sessionstart:
		return !s.resetAt.Before(u.after)
	case stop:
		return s.offset >= u.upTo
	default:
		return s.decision == u.decision
	}
}

// A ledger holds what the hooks have acknowledged against what views show. It
// is for one goroutine at a time.
type ledger struct {
	log    *costLog
	acked  []update
	lost   map[int]bool // by the place in acked
	broken []string     // sentences
	last   standing
	views  int
}

func newLedger(log *costLog) *ledger { return &ledger{log: log, lost: map[int]bool{}} }

// see checks what must be true in every view, given the one before: nothing
// moves back, and the money is exactly that of the rows it was counted from.
func (l *ledger) see(s standing) {
	l.views++
	if s.resetAt.Before(l.last.resetAt) {
		l.complain("%s moved back from %s to %s", fieldReset, instant(l.last.resetAt), instant(s.resetAt))
	}
	if s.offset < l.last.offset {
		l.complain("%s moved back from %d to %d", fieldOffset, l.last.offset, s.offset)
	}
	sum, ok := l.log.sum(s.offset)
	switch {
	case !ok:
		l.complain("%s is %d, where no row of the log ends", fieldOffset, s.offset)
	case !sum.Equal(s.total):
		l.complain("%s is %s, and the rows up to byte %d sum up to %s", fieldTotal, s.total, s.offset, sum)
	}
	l.last = s
}

// acknowledge takes note of an update; s was seen after it was acknowledged.
func (l *ledger) acknowledge(u update, s standing) {
	l.acked = append(l.acked, u)
	if !s.holds(u) {
		l.lost[len(l.acked)-1] = true
	}
}

// settle checks everything again at the end, when s, which see has seen, is
// all that is left.
func (l *ledger) settle(s standing) {
	latest := map[string]int{}
	for i, u := range l.acked {
		latest[u.program] = i
	}
	for i, u := range l.acked {
		if u.program == tick && i != latest[tick] {
			continue // the next decision has taken its place
		}
		if !s.holds(u) {
			l.lost[i] = true
		}
	}
	if size, _, spent := l.log.end(); s.offset != size || !s.total.Equal(spent) {
		l.complain("%s is %s at byte %d, and all %d bytes of the log sum up to %s", fieldTotal, s.total, s.offset, size, spent)
	}
}

// mostComplaints bounds how many sentences are kept: one fault may show in
// every view after it.
const mostComplaints = 5

func (l *ledger) complain(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	if len(l.broken) < mostComplaints && !slices.Contains(l.broken, sentence) {
		l.broken = append(l.broken, sentence)
	}
}

// tally sums up what became of the updates.
func (l *ledger) tally() Tally {
	_, rows, spent := l.log.end()
	t := Tally{Rows: rows, SpentUSD: spent.String(), TotalUSD: l.last.total.String(), Views: l.views, Broken: l.broken}
	for _, program := range programNames {
		updates, lost := 0, 0
		for i, u := range l.acked {
			if u.program != program {
				continue
			}
			updates++
			if l.lost[i] {
				lost++
			}
		}
		t.add(program, updates, lost)
	}
	return t
}
