package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"golang.org/x/sync/errgroup"
)

// mostTries bounds how many calls of a wave are made again.
const mostTries = 20

// playFreehold makes the same calls of the real programs.
func playFreehold(ctx context.Context, s *stage) error {
	r, err := reader.Open(s.state())
	if err != nil {
		return err
	}
	defer r.Close()
	log := newCostLog(filepath.Join(s.dir, "cost-log.jsonl"))
	h := &household{stage: s, reader: r, log: log, ledger: newLedger(log)}
	if err := h.play(ctx); err != nil {
		return fmt.Errorf("through Freehold: %w", err)
	}
	t := h.ledger.tally()
	t.Again = h.again
	s.report.Freehold = t
	s.screen.table(lossTable(s.report))
	s.screen.tell(tellLosses(s.report)...)
	if t.Lost > 0 || len(t.Broken) > 0 {
		return fmt.Errorf("%w: %d of %d updates are lost with Freehold: %s", ErrBroken, t.Lost, t.Updates, strings.Join(t.Broken, "; "))
	}
	return s.screen.err
}

// A household is the programs at work in one state.
type household struct {
	*stage
	reader *reader.Reader
	log    *costLog
	rows   int // that were given out to calls of stop
	again  int // calls that were made again

	mu     sync.Mutex // orders the views
	seen   *reader.View
	ledger *ledger
}

// play makes the calls while it watches the state. What goes wrong with one
// ends the other.
func (h *household) play(ctx context.Context) error {
	g, both := errgroup.WithContext(ctx)
	watching, enough := context.WithCancel(both)
	g.Go(func() error { return h.watch(watching) })
	g.Go(func() error {
		defer enough()
		return h.waves(both)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return h.look(ctx, h.ledger.settle)
}

// waves makes all calls, and again those that were refused.
func (h *household) waves(ctx context.Context) error {
	for n := range waves {
		var calls []call
		for _, program := range wave {
			calls = append(calls, h.call(program))
		}
		refused, err := h.send(ctx, calls)
		for try := 1; err == nil && len(refused) > 0; try++ {
			refused, err = h.retry(ctx, refused, try)
		}
		if err == nil && h.tamper != nil {
			err = h.tamper(n+1, h.state())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An undone call is one that has said that it did nothing.
type undone struct {
	call
	said string
}

// retry makes the first of the refused calls again, alone, as an agent does
// sooner or later.
func (h *household) retry(ctx context.Context, refused []undone, try int) ([]undone, error) {
	first := refused[0]
	if try > mostTries {
		return nil, fmt.Errorf("%s is refused: %s", first.program, first.said)
	}
	h.again++
	first.before = func(p *process) error { // its row is in the log
		p.upTo, _, _ = h.log.end()
		return nil
	}
	again, err := h.send(ctx, []call{first.call})
	return append(refused[1:], again...), err
}

// send makes calls together and returns those that were refused. A hook that
// could do nothing says so and exits with 0 all the same.
func (h *household) send(ctx context.Context, calls []call) (refused []undone, err error) {
	err = together(ctx, calls, func(p *process) error {
		if said := strings.TrimSpace(p.stderr.String()); said != "" || p.err != nil {
			refused = append(refused, undone{p.call, fmt.Sprintf("%s (%v)", said, p.cmd.ProcessState)})
			return ctx.Err()
		}
		u := update{program: p.program, after: p.fed, upTo: p.upTo, decision: strings.TrimSpace(p.stdout.String())}
		return h.look(ctx, func(s standing) { h.ledger.acknowledge(u, s) })
	})
	return refused, err
}

func (h *household) call(program string) call {
	c := call{
		program: program,
		args:    []string{h.program(program), "-dir", h.state()},
		env:     os.Environ(),
		stdin:   h.input.stdin[program],
	}
	if program == stop {
		row := h.input.row(h.rows)
		h.rows++
		c.before = func(p *process) (err error) {
			p.upTo, err = h.log.grow(row)
			return err
		}
	}
	return c
}

// look takes a view, checks it unless it is the same as the last, and hands
// it to then. Views are checked in the order in which they were taken.
func (h *household) look(ctx context.Context, then func(standing)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, err := h.reader.View(ctx)
	if err != nil {
		return err
	}
	s, err := standingOf(v)
	if err != nil {
		return err
	}
	if v != h.seen {
		h.seen = v
		h.ledger.see(s)
	}
	then(s)
	return nil
}

// watch looks at the state again and again until ctx ends.
func (h *household) watch(ctx context.Context) error {
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := h.look(ctx, func(standing) {}); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
