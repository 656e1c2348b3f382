package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/shopspring/decimal"
)

// mostRounds bounds how often the old way is tried until it loses something.
const mostRounds = 3

// playOldWay lets all hooks rewrite one shared file. It is no fault if that
// loses nothing; it is luck.
func playOldWay(ctx context.Context, s *stage) error {
	s.screen.tell(tellOldWay()...)
	_, err := s.rounds("runtime.json", s.input.legacy, func(round int, file string) (wrong bool, err error) {
		old := &oldWay{stage: s, file: file}
		err = old.play(ctx)
		old.tally.Rounds = round
		s.report.OldWay = old.tally
		return old.tally.Lost > 0, err
	})
	return err
}

// rounds plays something the old way, each time in a new file that begins as
// text, until it goes wrong or has not for mostRounds times. It returns how
// often that was.
func (s *stage) rounds(name string, text []byte, play func(round int, file string) (wrong bool, err error)) (rounds int, err error) {
	for round := 1; round <= mostRounds; round++ {
		file := filepath.Join(s.dir, "old-way", fmt.Sprintf("round-%d", round), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return 0, err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return 0, err
		}
		wrong, err := play(round, file)
		if err != nil {
			return 0, fmt.Errorf("the old way: %w", err)
		}
		if wrong {
			return round, s.screen.err
		}
		s.screen.tell(tellLuck(round)...)
	}
	return mostRounds, s.screen.err
}

// An oldWay is one round.
type oldWay struct {
	*stage
	file   string
	newest time.Time       // the newest stamp that a call has acknowledged
	spent  decimal.Decimal // by the calls of stop
	ended  map[string]int  // calls, by program
	tally  OldTally
}

func (o *oldWay) play(ctx context.Context) error {
	o.ended = map[string]int{}
	for range waves {
		if err := together(ctx, o.calls(), o.done); err != nil {
			return err
		}
		if err := o.checkStamp(); err != nil {
			return err
		}
	}
	return o.count()
}

// calls returns the calls of the next wave.
func (o *oldWay) calls() []call {
	var calls []call
	for _, program := range wave {
		c := o.oldCall(o.file, program)
		if program == stop {
			row := o.input.row(o.tally.Rows)
			o.tally.Rows++
			o.spent = o.spent.Add(row.usd)
			c.args = append(c.args, row.usd.String())
		}
		calls = append(calls, c)
	}
	return calls
}

// oldCall returns a call of a hook of the old way: the program name, and what it
// is given.
func (s *stage) oldCall(file, program string, args ...string) call {
	return call{
		program: program,
		args:    append([]string{s.program("freehold"), program}, args...),
		env:     append(os.Environ(), oldHookVariable+"="+file),
		stdin:   s.input.stdin[program],
	}
}

// done takes note of a call that has ended.
func (o *oldWay) done(p *process) error {
	if p.err != nil {
		return fmt.Errorf("%s: %w: %s", p.program, p.err, p.stderr.String())
	}
	o.ended[p.program]++
	if p.program != sessionstart {
		return nil
	}
	stamp, err := time.Parse(time.RFC3339Nano, p.stdout.String())
	if stamp.After(o.newest) {
		o.newest = stamp
	}
	return err
}

// An oldState is what the demo reads of the shared file.
type oldState struct {
	ResetAt time.Time       `json:"last_context_reset_at"`
	Total   decimal.Decimal `json:"total_usd"`
	calls   map[string]int
}

func (o *oldWay) read() (*oldState, error) {
	text, err := os.ReadFile(o.file)
	if err != nil {
		return nil, err
	}
	state := &oldState{calls: map[string]int{}}
	if err := json.Unmarshal(text, state); err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for _, program := range programNames {
		n, _ := fields[callsOf(program)].(float64)
		state.calls[program] = int(n)
	}
	return state, nil
}

// checkStamp looks whether the newest stamp of all waves so far is there.
func (o *oldWay) checkStamp() error {
	state, err := o.read()
	if err != nil {
		return err
	}
	o.tally.Waves++
	if state.ResetAt.Before(o.newest) {
		o.tally.StampsLost++
	}
	return nil
}

// count compares what the calls have acknowledged with what is left.
func (o *oldWay) count() error {
	state, err := o.read()
	if err != nil {
		return err
	}
	for _, program := range programNames {
		o.tally.add(program, o.ended[program], o.ended[program]-state.calls[program])
	}
	o.tally.TotalUSD, o.tally.SpentUSD = state.Total.StringFixed(2), o.spent.StringFixed(2)
	return nil
}
