package actor

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// A Writer is the live watchdog of a Part.
type Writer interface {
	Close() error
	Beat() (string, error) // commit once
}

// A Part is the process of an actor.
type Part struct {
	Dir  string
	Open func(dir string, leaseWait time.Duration) (w Writer, epoch uint64, err error)

	w  Writer
	mu sync.Mutex
}

// A Verb does one thing and returns the answer.
type Verb func(p *Part, rest string) (string, error)

// Play does the lines of standard input with the verbs of every actor and more,
// until the input ends.
func (p *Part) Play(more map[string]Verb) error {
	all := maps.Clone(verbs)
	maps.Copy(all, more)
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		verb, rest, _ := strings.Cut(s.Text(), " ")
		do, ok := all[verb]
		if !ok {
			return fmt.Errorf("an actor cannot %q", verb)
		}
		p.say(do(p, rest))
	}
	return nil
}

func (p *Part) say(line string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		line = "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		for _, sentinel := range []error{status.Busy, status.Fenced, status.DeadlinePassed, status.Lost, status.Gone, status.IdentityChanged} {
			if errors.Is(err, sentinel) {
				line = sentinel.Error() + ": " + line
			}
		}
	}
	fmt.Println(line)
}

var verbs = map[string]Verb{
	// open [WAIT]: take the lease.
	"open": func(p *Part, rest string) (string, error) {
		var wait time.Duration
		var err error
		if rest != "" {
			if wait, err = time.ParseDuration(rest); err != nil {
				return "", err
			}
		}
		w, epoch, err := p.Open(p.Dir, wait)
		if err != nil {
			return "", err
		}
		p.w = w
		return fmt.Sprint("open ", epoch), nil
	},
	// commit: one beat.
	"commit": func(p *Part, _ string) (string, error) { return p.w.Beat() },
	"close":  func(p *Part, _ string) (string, error) { return "closed", p.w.Close() },
	// stop STEP: stop, as by SIGSTOP, when the process comes to STEP.
	"stop": func(_ *Part, step string) (string, error) {
		failpoint.Set(func(at string) {
			if at == step {
				failpoint.Set(nil)
				failpoint.Stop()
			}
		})
		return "ready", nil
	},
	// ignore: SIGTERM has no effect but a word.
	"ignore": func(p *Part, _ string) (string, error) {
		onTerm(func() { p.say("terminated", nil) })
		return "ready", nil
	},
	// drain: on SIGTERM, commit once more, close and exit.
	"drain": func(p *Part, _ string) (string, error) {
		onTerm(func() {
			said, err := p.w.Beat()
			_, version, _ := strings.Cut(said, " ")
			p.say("drained "+version, errors.Join(err, p.w.Close()))
			os.Exit(0)
		})
		return "ready", nil
	},
	// leak: start a child that inherits the lease, and name it.
	"leak": func(*Part, string) (string, error) {
		child := exec.Command("sleep", "600")
		for fd := range uintptr(64) {
			if to, _ := os.Readlink(fmt.Sprint("/proc/self/fd/", fd)); strings.HasSuffix(to, ".lease") {
				leaked = append(leaked, os.NewFile(fd, to))
			}
		}
		child.ExtraFiles = leaked
		err := child.Start()
		return fmt.Sprint("leaked ", child.Process.Pid), err
	},
}

// leaked is the lease that a child inherits, which no finalizer may close.
var leaked []*os.File

func onTerm(do func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	go func() {
		for range c {
			do()
		}
	}()
}
