package sidecar

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func init() { roles["actor"] = roleActor }

// torture reports whether the tests may take their time.
var torture = os.Getenv("FREEHOLD_TORTURE") != ""

// rounds is how often a test repeats itself: the second number if
// FREEHOLD_TORTURE is set, else the first.
func rounds(few, many int) int {
	if torture {
		return many
	}
	return few
}

// counted is how often a law that is promised a number of times is tried: a few
// times, or as often as FREEHOLD_ROUNDS says.
func counted(t *testing.T, few int) int {
	t.Helper()
	if text := os.Getenv("FREEHOLD_ROUNDS"); text != "" {
		return mustAtoi(t, text)
	}
	return few
}

// An actor is a process that plays watchdog and does what it is told, line by
// line, answering each with one line.
type actor struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string
	exited chan struct{}
	state  *os.ProcessState
	reap   sync.Mutex // who has it keeps the actor, once dead, unreaped
}

// newActor starts an actor for dir. It is killed when the test ends.
func newActor(t *testing.T, dir string) *actor {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleVar+"=actor")
	cmd.Stderr = os.Stderr
	return startActor(t, cmd)
}

func startActor(t *testing.T, cmd *exec.Cmd) *actor {
	t.Helper()
	a := &actor{t: t, cmd: cmd, lines: make(chan string, 16), exited: make(chan struct{})}
	var err error
	if a.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			a.lines <- s.Text()
		}
		a.reap.Lock()
		defer a.reap.Unlock()
		cmd.Wait()
		a.state = cmd.ProcessState
		close(a.exited)
	}()
	t.Cleanup(a.kill)
	return a
}

func (a *actor) pid() int { return a.cmd.Process.Pid }

// tell gives the actor a line and waits for nothing.
func (a *actor) tell(line string) {
	a.t.Helper()
	if _, err := fmt.Fprintln(a.in, line); err != nil {
		a.t.Fatalf("tell %d %q: %v", a.pid(), line, err)
	}
}

// inVain is how long to wait for what takes milliseconds, on a machine or a disk
// that may be as busy as it likes, before it is said not to come.
const inVain = 2 * time.Minute

// hear returns the actor's next line.
func (a *actor) hear() string {
	a.t.Helper()
	select {
	case line := <-a.lines:
		return line
	case <-a.exited:
		select {
		case line := <-a.lines:
			return line
		default:
		}
		a.t.Fatalf("actor %d ended: %v", a.pid(), a.state)
	case <-time.After(inVain):
		a.t.Fatalf("actor %d says nothing", a.pid())
	}
	return ""
}

func (a *actor) ask(line string) string {
	a.t.Helper()
	a.tell(line)
	return a.hear()
}

// must asks and wants an answer that begins with want; it returns the rest.
func (a *actor) must(line, want string) string {
	a.t.Helper()
	got := a.ask(line)
	rest, ok := strings.CutPrefix(got, want)
	if !ok {
		a.t.Fatalf("actor %d, told to %s, said %q, want %q", a.pid(), line, got, want)
	}
	return strings.TrimSpace(rest)
}

// open makes the actor the live watchdog and returns its epoch.
func (a *actor) open() uint64 {
	a.t.Helper()
	return uint64(mustAtoi(a.t, a.must("open", "open")))
}

func mustAtoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// silent reports whether the actor says nothing for a while.
func (a *actor) silent(d time.Duration) bool {
	select {
	case line := <-a.lines:
		a.t.Errorf("actor %d said %q", a.pid(), line)
		return false
	case <-time.After(d):
		return true
	}
}

func (a *actor) signal(s syscall.Signal) {
	a.t.Helper()
	if err := a.cmd.Process.Signal(s); err != nil {
		a.t.Fatalf("signal %v to %d: %v", s, a.pid(), err)
	}
}

// stopped waits until the actor is stopped.
func (a *actor) stopped() {
	a.t.Helper()
	eventually(a.t, "the actor is stopped", func() bool { return strings.Contains(process.Condition(a.pid()), "is stopped") })
}

// kill kills the actor and waits until it has been reaped.
func (a *actor) kill() {
	a.cmd.Process.Kill()
	<-a.exited
}

// alive reports whether the actor has not ended.
func (a *actor) alive() bool {
	select {
	case <-a.exited:
		return false
	default:
		return true
	}
}

// eventually waits until ok is true, and looks often.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(inVain); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// roleActor is the other side of an actor.
func roleActor(args []string) error {
	p := &part{dir: args[0]}
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		verb, rest, _ := strings.Cut(s.Text(), " ")
		do, ok := verbsOfActors[verb]
		if !ok {
			return fmt.Errorf("an actor cannot %q", verb)
		}
		p.say(do(p, rest))
	}
	return nil
}

// part is what an actor remembers.
type part struct {
	dir string
	w   *Writer
	mu  sync.Mutex
}

func (p *part) say(line string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		line = "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		for _, sentinel := range []error{ErrBusy, ErrFenced, store.DeadlinePassed, store.Lost, store.ProcessGone, store.IdentityChanged} {
			if errors.Is(err, sentinel) {
				line = sentinel.Error() + ": " + line
			}
		}
	}
	fmt.Println(line)
}

var verbsOfActors = map[string]func(p *part, rest string) (string, error){
	// open [WAIT]: take the lease.
	"open": func(p *part, rest string) (string, error) {
		o := &Options{Program: "actor"}
		if rest != "" {
			var err error
			if o.LeaseWait, err = time.ParseDuration(rest); err != nil {
				return "", err
			}
		}
		w, err := Open(context.Background(), p.dir, declaration(), "watchdog", o)
		if err != nil {
			return "", err
		}
		p.w = w
		return fmt.Sprint("open ", w.epoch), nil
	},
	// commit: one beat.
	"commit": func(p *part, _ string) (string, error) {
		c, err := p.w.Update(context.Background(), beat)
		return fmt.Sprintf("%v %v", c.Outcome, c.Version), err
	},
	"close": func(p *part, _ string) (string, error) { return "closed", p.w.Close() },
	// stop STEP: stop, as by SIGSTOP, when the process comes to STEP.
	"stop": func(p *part, step string) (string, error) {
		failpoint.Set(func(at string) {
			if at == step {
				failpoint.Set(nil)
				failpoint.Stop()
			}
		})
		return "ready", nil
	},
	// ignore: SIGTERM has no effect but a word.
	"ignore": func(p *part, _ string) (string, error) {
		p.onTerm(func() { p.say("terminated", nil) })
		return "ready", nil
	},
	// drain: on SIGTERM, commit once more, close and exit.
	"drain": func(p *part, _ string) (string, error) {
		p.onTerm(func() {
			c, err := p.w.Update(context.Background(), beat)
			p.say(fmt.Sprintf("drained %v", c.Version), errors.Join(err, p.w.Close()))
			os.Exit(0)
		})
		return "ready", nil
	},
	// leak: start a child that inherits the lease, and name it.
	"leak": func(p *part, _ string) (string, error) {
		child := exec.Command("sleep", "600")
		child.ExtraFiles = []*os.File{p.w.lease.File()}
		err := child.Start()
		return fmt.Sprint("leaked ", child.Process.Pid), err
	},
	// retire GRACE [kill]: retire who holds the lease.
	"retire": func(p *part, rest string) (string, error) {
		fields := strings.Fields(rest)
		grace, err := time.ParseDuration(fields[0])
		if err != nil {
			return "", err
		}
		prepared, err := retire.Prepare(p.dir, "watchdog")
		if err != nil {
			return "", err
		}
		r, err := prepared.Run(context.Background(), &retire.Options{Grace: grace, Kill: len(fields) > 1})
		return r.Outcome.String(), err
	},
	// retirewith SCRIPT: retire who holds the lease with a stop command.
	"retirewith": func(p *part, script string) (string, error) {
		prepared, err := retire.Prepare(p.dir, "watchdog")
		if err != nil {
			return "", err
		}
		r, err := prepared.RunWith(context.Background(), exec.Command("sh", "-c", script), nil)
		return r.Outcome.String(), err
	},
}

// span lets fmt.Sscan read a duration.
type span time.Duration

func (s *span) Scan(state fmt.ScanState, _ rune) error {
	token, err := state.Token(true, nil)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(string(token))
	*s = span(d)
	return err
}

func (p *part) onTerm(do func()) {
	c := make(chan os.Signal, 1)
	ossignal.Notify(c, syscall.SIGTERM)
	go func() {
		for range c {
			do()
		}
	}()
}

func beat(tx *Tx) error {
	CounterOf(tx, "beats", schema.Uint).Add(1)
	return nil
}

// record reads the record of watchdog's lease, which must be sound.
func record(t *testing.T, dir string) *lease.Record {
	t.Helper()
	s := leaseState(t, dir)
	if s.RecordErr != nil || s.Lease == nil {
		t.Fatalf("no record of the lease: %v", s.RecordErr)
	}
	return s.Lease
}

func leaseState(t *testing.T, dir string) LeaseState {
	t.Helper()
	s, err := LeaseStatus(dir, "watchdog")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func metaPath(dir, name string) string { return dir + "/.freehold/" + name }

func recordPath(dir string) string { return metaPath(dir, statedir.OwnerRecord("watchdog")) }
