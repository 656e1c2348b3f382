package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
)

// workerVar names the kind of worker that a re-executed test binary is.
const workerVar = "FREEHOLD_TEST_HISTORY"

// Kinds are the kinds of worker, by name. Each is a function which opens the
// viewer that takes its views, and may change how its process does other things.
type Kinds map[string]func(dir string) (Viewer, error)

// Main is for TestMain: in a process that was started as a worker, Main plays the
// bursts of its standard input and does not return.
func Main(kinds Kinds) {
	kind, ok := os.LookupEnv(workerVar)
	if !ok {
		return
	}
	if err := work(kinds[kind], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A burst is a worker's operations on one state before it waits for the next.
type burst struct {
	Dir        string
	Durability schema.Durability
	Seed       uint64
	Client     int
	First      int // the number of the first operation
	Operations int // the number after the last
	Views      bool
	Script     []Verb // if not nil, these alone
	// The worker kills itself at the Steps-th step of a protocol, of those called
	// Step if that is not empty, from operation Dies on, unless Steps is zero.
	Dies, Steps int
	Step        string
}

// A line is a worker's message: that it calls, that it has returned, or that a
// burst is done.
type line struct {
	At     int64
	Input  *Input  `json:",omitempty"`
	Output *Output `json:",omitempty"`
}

// work does the bursts that in has, one on each line.
func work(view func(dir string) (Viewer, error), in io.Reader, out io.Writer) error {
	say := json.NewEncoder(out) // one write for each line, so that none is lost or torn
	for s := bufio.NewScanner(in); s.Scan(); {
		var b burst
		if err := json.Unmarshal(s.Bytes(), &b); err != nil {
			return err
		}
		if err := b.do(view, say); err != nil {
			return err
		}
		if err := say.Encode(line{}); err != nil {
			return err
		}
	}
	return nil
}

func (b burst) do(view func(dir string) (Viewer, error), say *json.Encoder) error {
	ahead := time.Duration(b.Client%3) * time.Minute // no order goes by clocks
	c, err := newClient(b.Dir, Declaration(b.Durability), ahead, view)
	if err != nil {
		return err
	}
	return errors.Join(b.play(c, say), c.close())
}

func (b burst) play(c *client, say *json.Encoder) error {
	defer failpoint.Set(nil)
	rng := rand.New(rand.NewPCG(b.Seed, uint64(b.Client)))
	for i := b.First; i < b.Operations; i++ {
		if i == b.Dies && b.Steps > 0 {
			b.dieSoon()
		}
		in := b.next(rng, i, c)
		if err := say.Encode(line{At: now(), Input: &in}); err != nil {
			return err
		}
		out := c.act(in)
		if err := say.Encode(line{At: now(), Output: &out}); err != nil {
			return err
		}
		if b.Views {
			time.Sleep(time.Duration(rng.IntN(pace)) * time.Microsecond)
		}
	}
	return nil
}

// pace bounds how many microseconds a reading worker waits between views, so
// that it is about as long at it as the others.
const pace = 2000

// dieSoon makes this process kill itself at the step that b says.
func (b burst) dieSoon() {
	failpoint.Set(func(step string) {
		if b.Step != "" && b.Step != step {
			return
		}
		if b.Steps--; b.Steps > 0 {
			return
		}
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			p.Kill()
		}
		select {}
	})
}

// elements is how many elements all insert and remove.
const elements = 2

// next draws the i-th operation of a burst.
func (b burst) next(rng *rand.Rand, i int, c *client) Input {
	id := uint64(b.Client)*1_000_000 + uint64(i) + 1
	switch {
	case b.Script != nil:
		return Input{Verb: b.Script[i]}
	case b.Views:
		return Input{Verb: View}
	}
	in := Input{Verb: draw(rng), Hasty: rng.IntN(2) == 0}
	if rng.IntN(8) == 0 {
		in.Keep = rng.IntN(2000)
	}
	switch in.Verb {
	case Set:
		in.N = id
	case SetIf:
		in.N, in.If = id, c.at.Revision
	case Add:
		in.N, in.Peak = 1+rng.Uint64N(1000), rng.Uint64N(uint64(i)+1)
	case Raise:
		in.N = 1 + rng.Uint64N(2*(uint64(i)+1)) // 0 differs from unset
	case Insert, Remove:
		in.N = rng.Uint64N(elements)
	case Claim: // at about the same time, all claim the same field
		in.N, in.Field = id, min(i*Claims/b.Operations+rng.IntN(2), Claims-1)
	}
	return in
}

// shares says how many of a hundred operations are of which verb.
var shares = []struct {
	verb  Verb
	share int
}{{Set, 6}, {SetIf, 8}, {Cost, 4}, {Add, 20}, {Raise, 6}, {Insert, 15}, {Remove, 15}, {Fold, 4}, {Claim, 6}, {View, 12}, {Resolve, 4}}

func draw(rng *rand.Rand) Verb {
	n := rng.IntN(100)
	for _, s := range shares {
		if n -= s.share; n < 0 {
			return s.verb
		}
	}
	panic("the shares are less than a hundred")
}
