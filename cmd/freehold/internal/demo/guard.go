package demo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A meter measures a context of fullContext words.
const fullContext = 1200

const (
	measure   = `wc -w <context.txt`
	reset     = `echo a new context >context.txt`
	oldGuard  = `[ words -ot cleared ] || cat words`
	newGuard  = `freehold get words --require-fresh`
	observe   = `freehold observe words`
	newRecord = `freehold set meter words=$1 --seen $2`
)

// Guard holds the measurements of the second scene: a meter measures the
// context, another program clears the context, the meter writes its
// measurement, and a guard decides whether that may be acted on.
type Guard struct {
	// Measured is the length before the context was cleared, in words, and Now
	// the length when the guard decides.
	Measured int `json:"measured"`
	Now      int `json:"now"`
	// OldWay and Freehold answer to Measured, Again to a new measurement.
	OldWay   Answer `json:"old_way"`
	Freehold Answer `json:"freehold"`
	Again    Answer `json:"again"`
}

// An Answer holds the words that a guard printed, to act on, and its exit status.
type Answer struct {
	Words  int `json:"words"`
	Status int `json:"status"`
}

func playGuard(ctx context.Context, s *stage, r *Report) {
	g := &r.Guard
	s.tell(title("2  An overtaken measurement",
		fmt.Sprintf("   A meter measures a context of %d words. Another program clears the", fullContext),
		"   context. Then the meter writes its measurement. May a guard act on that?")...)
	s.tell(way("Old way", oldGuard)...)
	g.Measured = s.fill(ctx)
	s.sh(ctx, reset+" && : >cleared")
	s.sh(ctx, "echo $1 >words", strconv.Itoa(g.Measured))
	g.Now = s.number(ctx, measure)
	g.OldWay = s.answer(ctx, oldGuard)
	s.tell(verdict(g.OldWay.Words == g.Now, g.OldWay.text(g.Now)))

	s.tell(way("Freehold", newGuard)...)
	seen := s.sh(ctx, observe)
	words := s.fill(ctx)
	s.sh(ctx, reset+" && freehold add reset clears 1")
	s.sh(ctx, newRecord, strconv.Itoa(words), seen)
	g.Freehold = s.answer(ctx, newGuard)
	s.judge(g.Freehold == Answer{Status: 1}, g.Freehold.text(g.Now))

	seen = s.sh(ctx, observe)
	s.sh(ctx, newRecord, strconv.Itoa(s.number(ctx, measure)), seen)
	g.Again = s.answer(ctx, newGuard)
	s.judge(g.Again == Answer{Words: g.Now}, "measured again: "+g.Again.text(g.Now))
}

// fill makes a full context and measures it.
func (s *stage) fill(ctx context.Context) (words int) {
	s.write("context.txt", strings.Repeat("word ", fullContext))
	return s.number(ctx, measure)
}

func (s *stage) answer(ctx context.Context, guard string) (a Answer) {
	out, status := s.ask(ctx, guard)
	a.Status = status
	if out != "" {
		a.Words = s.parse(out)
	}
	return a
}
