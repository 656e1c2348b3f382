// Package actor lets tests direct a process that holds the lease of an exclusive
// owner. It is for Freehold's own tests and promises nothing to others.
package actor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
)

// Torture reports whether the tests may take their time.
var Torture = os.Getenv("FREEHOLD_TORTURE") != ""

// Rounds returns how often a test repeats itself: many if FREEHOLD_TORTURE is set,
// else few.
func Rounds(few, many int) int {
	if Torture {
		return many
	}
	return few
}

// Counted returns how often a law that is promised a number of times is tried: a
// few times, or as often as FREEHOLD_ROUNDS says.
func Counted(t *testing.T, few int) int {
	t.Helper()
	if text := os.Getenv("FREEHOLD_ROUNDS"); text != "" {
		return Atoi(t, text)
	}
	return few
}

// Atoi returns the number that an actor said.
func Atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// InVain is how long to wait for an event that takes milliseconds, on a machine
// that may be busy, before the event is said not to come.
const InVain = 2 * time.Minute

// Eventually waits until ok is true, and looks often.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(InVain); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// An Actor is a process that plays the owner watchdog: told a line, it does the
// thing and answers with one line.
type Actor struct {
	T      *testing.T
	Lines  chan string
	Exited chan struct{}
	State  *os.ProcessState // once Exited is closed
	Reap   sync.Mutex       // its holder keeps the actor, once dead, unreaped

	cmd *exec.Cmd
	in  io.WriteCloser
}

// New starts an actor for dir, in the role "actor" of the test binary. It is
// killed when the test ends.
func New(t *testing.T, dir string) *Actor {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = role.Env("actor")
	cmd.Stderr = os.Stderr
	return Start(t, cmd)
}

// Start starts cmd as an actor.
func Start(t *testing.T, cmd *exec.Cmd) *Actor {
	t.Helper()
	a := &Actor{T: t, cmd: cmd, Lines: make(chan string, 16), Exited: make(chan struct{})}
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
			a.Lines <- s.Text()
		}
		a.Reap.Lock()
		defer a.Reap.Unlock()
		cmd.Wait()
		a.State = cmd.ProcessState
		close(a.Exited)
	}()
	t.Cleanup(a.Kill)
	return a
}

// PID returns the actor's process id.
func (a *Actor) PID() int { return a.cmd.Process.Pid }

// Tell gives the actor a line and waits for nothing.
func (a *Actor) Tell(line string) {
	a.T.Helper()
	if _, err := fmt.Fprintln(a.in, line); err != nil {
		a.T.Fatalf("tell %d %q: %v", a.PID(), line, err)
	}
}

// Hear returns the actor's next line.
func (a *Actor) Hear() string {
	a.T.Helper()
	select {
	case line := <-a.Lines:
		return line
	case <-a.Exited:
		select {
		case line := <-a.Lines:
			return line
		default:
		}
		a.T.Fatalf("actor %d ended: %v", a.PID(), a.State)
	case <-time.After(InVain):
		a.T.Fatalf("actor %d says nothing", a.PID())
	}
	return ""
}

// Ask tells the actor a line and returns the answer.
func (a *Actor) Ask(line string) string {
	a.T.Helper()
	a.Tell(line)
	return a.Hear()
}

// Must asks, wants an answer that begins with want, and returns the rest.
func (a *Actor) Must(line, want string) string {
	a.T.Helper()
	got := a.Ask(line)
	rest, ok := strings.CutPrefix(got, want)
	if !ok {
		a.T.Fatalf("actor %d, told to %s, said %q, want %q", a.PID(), line, got, want)
	}
	return strings.TrimSpace(rest)
}

// Open makes the actor the live watchdog and returns its epoch.
func (a *Actor) Open() uint64 {
	a.T.Helper()
	return uint64(Atoi(a.T, a.Must("open", "open")))
}

// Silent reports whether the actor says nothing for a while.
func (a *Actor) Silent(d time.Duration) bool {
	select {
	case line := <-a.Lines:
		a.T.Errorf("actor %d said %q", a.PID(), line)
		return false
	case <-time.After(d):
		return true
	}
}

// Signal sends s to the actor.
func (a *Actor) Signal(s syscall.Signal) {
	a.T.Helper()
	if err := a.cmd.Process.Signal(s); err != nil {
		a.T.Fatalf("signal %v to %d: %v", s, a.PID(), err)
	}
}

// Stopped waits until the actor is stopped.
func (a *Actor) Stopped() {
	a.T.Helper()
	Eventually(a.T, "the actor is stopped", func() bool { return strings.Contains(process.Condition(a.PID()), "is stopped") })
}

// Kill kills the actor and waits until it has been reaped.
func (a *Actor) Kill() {
	a.cmd.Process.Kill()
	<-a.Exited
}

// Alive reports whether the actor has not ended.
func (a *Actor) Alive() bool {
	select {
	case <-a.Exited:
		return false
	default:
		return true
	}
}

// InPIDNamespace returns the command that runs a role as the first process of a
// PID namespace of its own. The test is skipped if that is not permitted.
func InPIDNamespace(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	unshare := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	try := append(unshare[1:len(unshare):len(unshare)], "sh", "-c", "echo 100 >/proc/sys/kernel/ns_last_pid")
	if out, err := exec.Command(unshare[0], try...).CombinedOutput(); err != nil {
		t.Skipf("no PID namespace with numbers to choose from: %v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), unshare[0], append(append(unshare[1:], os.Args[0]), args...)...)
	cmd.Env = role.Env(name)
	return cmd
}

// At calls do once, when this process comes to a step.
func At(t *testing.T, step string, do func()) {
	t.Helper()
	var once sync.Once
	failpoint.Set(func(now string) {
		if now == step {
			once.Do(do)
		}
	})
	t.Cleanup(func() { failpoint.Set(nil) })
}
