// Package inject runs a command and interferes with exactly one of its system calls, the K-th of the whole process tree, so that a test can
// stop or fail an operation at every step it has. It changes nothing between two system calls, and it needs Linux on amd64 or arm64;
// [Available] says why it cannot be used elsewhere.
//
// A seccomp filter hands each chosen call to the test before the kernel executes it. All threads and children share one filter, so one
// counter orders them all. Nobody can install a filter between fork and exec in Go, so the test binary is started first and replaces
// itself by the command: TestMain has to call [Main] before anything else.
package inject

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Command is the program to run, as in [os/exec.Cmd].
type Command struct {
	Path    string        // looked up in PATH if it has no slash
	Args    []string      // without the command's own name
	Env     []string      // if nil, this process's environment
	Dir     string        // if empty, this process's directory
	Stdin   io.Reader     // if nil, the null device
	Timeout time.Duration // the whole run may take so long; if zero, 30 s
}

// Action is the treatment of the call that a [Plan] names.
type Action int

const (
	// Watch only counts.
	Watch Action = iota
	// KillBefore kills the command and its children (SIGKILL); the call is not executed.
	KillBefore
	// KillAfter executes the call and kills before the next counted call, the end mark or an exit, whichever comes first. User
	// notification cannot stop right behind a call: with several threads, the next call may be one that ran beside it.
	KillAfter
	// Fail does not execute the call; it returns Plan.Errno. Unlike the kernel's, a failed close leaves the descriptor open.
	Fail
	// Delay holds the calling thread for Plan.Delay, then executes the call. Other threads go on.
	Delay
)

// Plan says which calls are counted and how one of them is treated.
type Plan struct {
	// Calls names the counted system calls. If empty, every call that touches the file system is counted. Those on an eventfd or a cgroup
	// file never are: they are the Go runtime's own, and come when they like.
	Calls []string
	// Only, if not nil, narrows them further: calls for which it is false are neither counted nor listed. The call's N is not set yet.
	Only func(Call) bool
	// Marked counts only between the command's own calls of [Begin] and [End], not the start of its language's runtime.
	Marked bool
	// At is the number of the call to act on, from 1. If zero, none.
	At     int
	Action Action
	// Errno is the error that Fail returns. If zero, the call claims success (0) though nothing was done: a lying disk.
	Errno syscall.Errno
	// Delay is how long Delay holds a call.
	Delay time.Duration
	// Persistent makes Fail and Delay act on every counted call from At on, the command's output too: let it call End before it reports.
	Persistent bool
}

// Call is one counted system call.
type Call struct {
	N     int // its number, from 1
	PID   int // the thread that made it
	Name  string
	Args  [6]uint64
	Paths []string // the files that its arguments name, as a path or a descriptor; "?" where unreadable
}

// String is for failure messages: "#17 renameat(.reset.json123 -> reset.json)".
func (c Call) String() string {
	if len(c.Paths) == 0 {
		return fmt.Sprintf("#%d %s(%#x, %#x, %#x)", c.N, c.Name, c.Args[0], c.Args[1], c.Args[2])
	}
	names := make([]string, len(c.Paths))
	for i, path := range c.Paths {
		names[i] = filepath.Base(path)
	}
	return fmt.Sprintf("#%d %s(%s)", c.N, c.Name, strings.Join(names, " -> "))
}

// Result describes a run.
type Result struct {
	Calls          []Call
	Hit            *Call            // the call acted on; nil if the command made fewer
	Action         Action           // of the plan
	Killed         bool             // the plan killed the command
	State          *os.ProcessState // exit code or signal
	Stdout, Stderr []byte
}

// String describes the run, for failure messages: "killed before #3 fsync(a.tmp)".
func (r Result) String() string {
	if r.Hit == nil {
		return fmt.Sprintf("untouched after %d calls", len(r.Calls))
	}
	done := map[Action]string{KillBefore: "killed before", KillAfter: "killed after", Fail: "failed", Delay: "delayed"}[r.Action]
	if r.Action == KillAfter && !r.Killed {
		done = "died by itself after" // by a signal of its own: an exit would have been caught
	}
	return done + " " + r.Hit.String()
}

// mostCalls ends EveryCall when a command keeps making new calls, as one does that repeats a failed call until its time is over.
const mostCalls = 5000

// EveryCall runs the command that prepare returns with At = 1, 2, …, and yields each number and result; the last is that of the first run that ended
// without making so many calls. It fails t if a run cannot be made or counts nothing at all, which would prove nothing.
func EveryCall(t testing.TB, prepare func(k int) (Command, Plan)) iter.Seq2[int, Result] {
	return func(yield func(int, Result) bool) {
		t.Helper()
		for k := 1; k <= mostCalls; k++ {
			command, plan := prepare(k)
			plan.At = k
			result, err := Run(t.Context(), command, plan)
			if err != nil {
				t.Fatalf("run %d: %v", k, err)
			}
			if len(result.Calls) == 0 {
				t.Fatalf("run %d: no call counted; stderr: %s", k, result.Stderr)
			}
			if !yield(k, result) || result.Hit == nil {
				return
			}
		}
		t.Fatalf("the command still makes a new call after %d runs", mostCalls)
	}
}
