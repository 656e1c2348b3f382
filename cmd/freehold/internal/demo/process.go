package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// The programs that the agent calls.
const (
	sessionstart = "sessionstart"
	stop         = "stop"
	tick         = "tick"
	pretool      = "pretool"
	bump         = "bump"
)

// programNames are those that write the state of the first act.
var programNames = []string{sessionstart, stop, tick}

// A wave is what the agent calls at the same time.
var wave = []string{sessionstart, stop, sessionstart, stop, sessionstart, stop, sessionstart, stop, sessionstart, tick}

// waves is how often it does.
const waves = 10

// patience is how long a process that was ended may take to be gone.
const patience = 2 * time.Second

// A call is one call of a program: a process to be.
type call struct {
	program string // its name
	args    []string
	env     []string
	stdin   []byte
	before  func(*process) error // what happens just before the process gets its input; may be nil
}

// A process is a call at work or done.
type process struct {
	call
	cmd            *exec.Cmd
	pipe           io.WriteCloser
	stdout, stderr bytes.Buffer
	fed            time.Time // when it got its input, by the wall clock
	upTo           uint64    // how long the cost log was then
	err            error     // how it ended
}

// together makes all calls at once: it starts all processes, which wait for
// their input as hooks do, and only then gives it to them. It calls done for
// each that has ended.
func together(ctx context.Context, calls []call, done func(*process) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var errs []error
	var started []*process
	ended := make(chan *process, len(calls))
	fail := func(err error) {
		errs = append(errs, err)
		cancel()
	}
	for _, c := range calls {
		p, err := c.start(ctx)
		if err != nil {
			fail(err)
			break
		}
		started = append(started, p)
		go func() {
			p.err = p.cmd.Wait()
			ended <- p
		}()
	}
	for _, p := range started {
		if err := p.feed(); err != nil {
			fail(err)
			break
		}
	}
	for range started {
		if err := done(<-ended); err != nil {
			fail(err)
		}
	}
	return errors.Join(errs...)
}

func (c call) start(ctx context.Context) (*process, error) {
	p := &process{call: c, cmd: exec.CommandContext(ctx, c.args[0], c.args[1:]...)}
	p.cmd.Env = c.env
	p.cmd.WaitDelay = patience
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	var err error
	if p.pipe, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// feed gives the process its input. One that does not take it has ended, and
// says itself why.
func (p *process) feed() error {
	if p.before != nil {
		if err := p.before(p); err != nil {
			return err
		}
	}
	p.fed = time.Now().Round(0)
	p.pipe.Write(p.stdin)
	p.pipe.Close()
	return nil
}
