package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/reader"
)

// copies is how many copies of the hook start at once.
const copies = 4

// contextItems is what the hook has to look up.
const contextItems = `{"id": "rule:1", "text": "Tests run with go test ./..."}
`

// playLatch starts copies of one hook at once, for a session in which one of
// them must look things up.
func playLatch(ctx context.Context, s *stage) error {
	s.screen.tell(tellLatch()...)
	items := filepath.Join(s.dir, "context-items.jsonl")
	if err := os.WriteFile(items, []byte(contextItems), 0o600); err != nil {
		return err
	}
	l := &s.report.Latch
	l.Copies = copies
	_, err := s.rounds("context-seen.json", s.input.seen, func(_ int, file string) (wrong bool, err error) {
		looked, err := s.copies(ctx, s.oldCall(file, pretool, items))
		l.OldWay = len(looked)
		return l.OldWay > 1, err
	})
	if err != nil {
		return err
	}
	looked, err := s.copies(ctx, call{
		program: pretool,
		args:    []string{s.program(pretool), "-dir", s.sessions(), "-items", items},
		env:     os.Environ(),
		stdin:   s.input.stdin[pretool],
	})
	if err != nil {
		return fmt.Errorf("through Freehold: %w", err)
	}
	if l.Freehold = len(looked); len(looked) > 0 {
		l.Winner = looked[0]
	}
	if l.Claimant, err = s.claimant(ctx); err != nil {
		return err
	}
	s.screen.tell(tellLooks(l)...)
	if why := l.broken(); why != "" {
		return fmt.Errorf("%w: %s", ErrBroken, why)
	}
	return s.screen.err
}

// copies makes a call as often at once and returns the processes that have
// looked things up: those that say what they have found.
func (s *stage) copies(ctx context.Context, c call) (looked []int, err error) {
	calls := make([]call, copies)
	for i := range calls {
		calls[i] = c
	}
	err = together(ctx, calls, func(p *process) error {
		if p.err != nil || p.stderr.Len() > 0 {
			return fmt.Errorf("%s: %v: %s", p.program, p.cmd.ProcessState, strings.TrimSpace(p.stderr.String()))
		}
		if p.stdout.Len() > 0 {
			looked = append(looked, p.cmd.Process.Pid)
		}
		return nil
	})
	return looked, err
}

// claimant returns the process of which the session's state says that it has
// claimed the look-up.
func (s *stage) claimant(ctx context.Context) (pid int, err error) {
	var in struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal(s.input.stdin[pretool], &in); err != nil {
		return 0, err
	}
	r, err := reader.OpenInstance(s.sessions(), in.SessionID, nil)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if s.spoil != nil {
		if err := s.spoil(s.sessions()); err != nil {
			return 0, err
		}
	}
	v, err := r.View(ctx)
	if err != nil {
		return 0, err
	}
	by, _ := v.Field(latched).Provenance()
	return by.PID, nil
}

// broken returns what is not as it must be, or "".
func (l *Latch) broken() string {
	switch {
	case l.Freehold != 1:
		return fmt.Sprintf("%d of %d copies of one hook looked things up with Freehold", l.Freehold, l.Copies)
	case l.Claimant == 0:
		return fmt.Sprintf("process %d looked things up, and the state says that nobody has claimed to", l.Winner)
	case l.Winner != l.Claimant:
		return fmt.Sprintf("process %d looked things up, and the state says that process %d has claimed to", l.Winner, l.Claimant)
	}
	return ""
}
