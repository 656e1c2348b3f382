package demo

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
)

const (
	// counters is how many processes count at once, and countEach how often
	// each of them does.
	counters  = 8
	countEach = 500
)

// What is counted: the uses of a skill.
const (
	fieldSkills = "skills"
	useCount    = "use_count"
	skill       = "deploy"
)

// playCount lets many processes count in one place.
func playCount(ctx context.Context, s *stage) error {
	s.screen.tell(tellCount()...)
	c := &s.report.Count
	c.Processes, c.Each = counters, countEach
	_, err := s.rounds("usage.json", []byte("{}"), func(_ int, file string) (wrong bool, err error) {
		if c.OldWay.Acknowledged, err = s.count(ctx, s.oldCall(file, bump, strconv.Itoa(countEach))); err != nil {
			return false, err
		}
		fields, err := fieldsIn(file)
		n, _ := fields[useCount].(float64)
		c.OldWay.Counted = int(n)
		c.OldWay.Lost = c.OldWay.Acknowledged - c.OldWay.Counted
		return c.OldWay.Lost > 0, err
	})
	if err != nil {
		return err
	}
	if err := s.countWithFreehold(ctx, &c.Freehold); err != nil {
		return fmt.Errorf("through Freehold: %w", err)
	}
	s.screen.tell(tellCounts(c)...)
	if c.Freehold.Lost != 0 {
		return fmt.Errorf("%w: %d uses were acknowledged and %d are counted with Freehold", ErrBroken, c.Freehold.Acknowledged, c.Freehold.Counted)
	}
	return s.screen.err
}

func (s *stage) countWithFreehold(ctx context.Context, t *CountTally) (err error) {
	if _, err := s.run(ctx, "skill", "-dir", s.usage(), skill); err != nil {
		return err
	}
	t.Acknowledged, err = s.count(ctx, call{
		program: bump,
		args:    []string{s.program(bump), "-dir", s.usage(), "-times", strconv.Itoa(countEach), skill},
		env:     os.Environ(),
	})
	if err != nil {
		return err
	}
	if s.spoil != nil {
		if err := s.spoil(s.usage()); err != nil {
			return err
		}
	}
	t.Counted, err = s.counted(ctx)
	t.Lost = t.Acknowledged - t.Counted
	return err
}

// count makes the call as often at once as there are counters, and returns how
// many uses they say that they have counted.
func (s *stage) count(ctx context.Context, c call) (acknowledged int, err error) {
	calls := make([]call, counters)
	for i := range calls {
		calls[i] = c
	}
	err = together(ctx, calls, func(p *process) error {
		if p.err != nil {
			return fmt.Errorf("%s: %w: %s", p.program, p.err, strings.TrimSpace(p.stderr.String()))
		}
		n, err := strconv.Atoi(strings.TrimSpace(p.stdout.String()))
		acknowledged += n
		return err
	})
	return acknowledged, err
}

// counted returns what a view of the state says.
func (s *stage) counted(ctx context.Context) (int, error) {
	r, err := reader.Open(s.usage())
	if err != nil {
		return 0, err
	}
	defer r.Close()
	v, err := r.View(ctx)
	if err != nil {
		return 0, err
	}
	n, err := reader.FieldIn(v.Field(fieldSkills).Key(skill), useCount, schema.Uint{}).OrUnset(0)
	return int(n), err
}
