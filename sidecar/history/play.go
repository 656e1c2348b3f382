package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A Game says how a history is made.
type Game struct {
	// Kind of its workers, by [Kinds].
	Kind string
	// Seed of all random choices but the kernel's.
	Seed uint64
	// Writers do everything, Readers only take views; each does so many
	// operations.
	Writers, Readers, Each int
	// Kills is how many writers are killed at random moments. Another goes on
	// in the place of each.
	Kills int
	// Step of a protocol at which they are, or if empty, at any moment.
	Step string
	// Durability of all owners.
	Durability schema.Durability
}

// Players are the processes that play: a process plays many histories.
type Players struct {
	mu   sync.Mutex
	idle map[string][]*player
}

// A player is one process.
type player struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// NewPlayers returns players that are there until they are closed, or this
// process ends. Its binary must call [Main].
func NewPlayers() *Players { return &Players{idle: map[string][]*player{}} }

// Close ends the processes.
func (p *Players) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, players := range p.idle {
		for _, one := range players {
			errs = append(errs, one.in.Close(), one.cmd.Wait())
		}
	}
	clear(p.idle)
	return errors.Join(errs...)
}

func (p *Players) take(kind string) (*player, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle[kind]); n > 0 {
		one := p.idle[kind][n-1]
		p.idle[kind] = p.idle[kind][:n-1]
		return one, nil
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerVar+"="+kind)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return &player{cmd, in, bufio.NewScanner(out)}, cmd.Start()
}

func (p *Players) giveBack(kind string, one *player) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[kind] = append(p.idle[kind], one)
}

// Play makes a state in dir, which is not there yet, and a history of it. The
// history ends with the view of a last process, when all is folded.
func (p *Players) Play(dir string, g Game) ([]Record, error) {
	if err := sidecar.Create(dir, Declaration(g.Durability)); err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	rng := rand.New(rand.NewPCG(g.Seed, 0))
	seats := make([]*seat, g.Writers+g.Readers)
	for i := range seats {
		seats[i] = &seat{players: p, game: g, number: i, made: burst{Dir: dir, Durability: g.Durability, Seed: g.Seed, Views: i >= g.Writers, Operations: g.Each}}
	}
	for range g.Kills {
		s := seats[rng.IntN(g.Writers)]
		s.kills = append(s.kills, rng.IntN(g.Each))
	}
	for i, s := range seats {
		slices.Sort(s.kills)
		s.rng = rand.New(rand.NewPCG(g.Seed, uint64(i)+1))
		wg.Go(s.play)
	}
	wg.Wait()
	script := []Verb{Fold, Fold, Cost, View}
	last := &seat{players: p, game: g, number: len(seats), made: burst{Dir: dir, Durability: g.Durability, Script: script, Operations: len(script)}}
	last.play()
	var all []Record
	var errs []error
	for _, s := range append(seats, last) {
		all = append(all, s.records...)
		errs = append(errs, s.err)
	}
	return all, errors.Join(errs...)
}

// A seat is where one process plays after another has been killed.
type seat struct {
	players *Players
	game    Game
	number  int
	rng     *rand.Rand
	made    burst // the operations of the present process
	kills   []int // the operations at which one is killed
	deaths  int
	records []Record
	err     error
}

func (s *seat) play() {
	for s.err == nil && s.made.First < s.made.Operations {
		s.made.Client = s.number + s.deaths*(s.game.Writers+s.game.Readers+1)
		died, err := s.burst()
		if err != nil {
			s.err = fmt.Errorf("client %d: %w", s.made.Client, err)
		} else if died {
			s.deaths++
		}
	}
}

// burst lets one process do the operations left, and reports whether it was killed.
func (s *seat) burst() (died bool, err error) {
	at := -1 // when it dies
	if len(s.kills) > 0 {
		at, s.kills = max(s.kills[0], s.made.First), s.kills[1:]
	}
	s.made.Dies, s.made.Steps = 0, 0
	byItself := at >= 0 && (s.game.Step != "" || s.rng.IntN(2) == 0)
	if byItself { // at a step of a protocol
		s.made.Dies, s.made.Steps, s.made.Step = at, 1, s.game.Step
		if s.game.Step == "" {
			s.made.Steps += s.rng.IntN(4)
		}
	}
	p, err := s.players.take(s.game.Kind)
	if err != nil {
		return false, err
	}
	if err := json.NewEncoder(p.in).Encode(s.made); err != nil {
		return false, err
	}
	killed := false
	for p.out.Scan() {
		var l line
		if err := json.Unmarshal(p.out.Bytes(), &l); err != nil {
			return false, fmt.Errorf("%w in %s", err, p.out.Bytes())
		}
		switch {
		case l.At != 0:
			s.take(l)
		case !killed:
			s.players.giveBack(s.game.Kind, p)
			return false, nil
		}
		if l.Input != nil && at >= 0 && s.made.First > at && !byItself && !killed {
			time.Sleep(time.Duration(s.rng.IntN(1000)) * time.Microsecond)
			p.cmd.Process.Kill() // it may have said a little more by now
			killed = true
		}
	}
	return true, p.dead(at >= 0)
}

// dead reaps the player, which has gone silent. It is an error if it was not to
// be killed, or ended in another way.
func (p *player) dead(wanted bool) error {
	p.in.Close()
	if err := p.cmd.Wait(); !wanted || p.cmd.ProcessState.Exited() {
		return fmt.Errorf("it ended: %v", err)
	}
	return p.out.Err()
}

// take reads the lines of the process.
func (s *seat) take(l line) {
	if l.Input != nil {
		s.records = append(s.records, Record{Client: s.made.Client, Input: *l.Input, Call: l.At})
		s.made.First++
		return
	}
	last := &s.records[len(s.records)-1]
	last.Output, last.Return = *l.Output, l.At
}
