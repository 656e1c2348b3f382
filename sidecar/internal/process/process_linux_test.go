package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"golang.org/x/sys/unix"
)

func init() { scratch.Guard() }

// sleeper starts a process that does nothing until the test ends.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func identityOf(t *testing.T, pid int) Identity {
	t.Helper()
	id, err := IdentityOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wantGone(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, status.Gone) {
		t.Errorf("got %v, want %v", err, status.Gone)
	}
}

// asStranger calls fn in a thread that runs as user 65534, and ends the thread.
func asStranger(fn func()) {
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			panic(errno)
		}
		fn()
	}()
}

func TestIdentityIsJudgedByAllThatIsKnown(t *testing.T) {
	known := identityOf(t, sleeper(t).Process.Pid)
	for name, tc := range map[string]struct {
		change func(*Identity)
		want   Verdict
		says   string
	}{
		"the process itself":       {func(*Identity) {}, Alive, "by its pidfd"},
		"no pidfd inode":           {func(id *Identity) { id.PIDFD = 0 }, Alive, "same start time"},
		"no start time":            {func(id *Identity) { id.Start = 0 }, Alive, "by its pidfd"},
		"an absent number":         {func(id *Identity) { id.PID = 1 << 29 }, Gone, "no process"},
		"another time namespace":   {func(id *Identity) { id.Start++ }, Alive, "by its pidfd"},
		"start only, another":      {func(id *Identity) { id.Start++; id.PIDFD = 0 }, Gone, "used again"},
		"another pidfd":            {func(id *Identity) { id.PIDFD++ }, Gone, "used again"},
		"same tick, another pidfd": {func(id *Identity) { id.PIDFD++; id.Start = known.Start }, Gone, "used again"},
		"the number alone":         {func(id *Identity) { id.Start, id.PIDFD = 0, 0 }, CannotJudge, "nothing else"},
		"another boot":             {func(id *Identity) { id.Boot = "another" }, CannotJudge, "boot"},
		"no boot":                  {func(id *Identity) { id.Boot = "" }, CannotJudge, "boot"},
		"another namespace":        {func(id *Identity) { id.PIDNamespace++ }, CannotJudge, "namespace"},
		"no namespace":             {func(id *Identity) { id.PIDNamespace = 0 }, CannotJudge, "namespace"},
		"a negative number":        {func(id *Identity) { id.PID = -1 }, CannotJudge, "no process id"},
		"every process's number":   {func(id *Identity) { id.PID = 0 }, CannotJudge, "no process id"},
	} {
		t.Run(name, func(t *testing.T) {
			if known.PIDFD == 0 && strings.Contains(name, "pidfd") {
				t.Skip("this kernel has no pidfd inodes")
			}
			id := known
			tc.change(&id)
			if got, why := id.Judge(); got != tc.want || !strings.Contains(why, tc.says) {
				t.Errorf("judged %v (%s), want %v (%s)", got, why, tc.want, tc.says)
			}
		})
	}
}

func TestSelfIsAliveAndTheSame(t *testing.T) {
	me := Self()
	if me != Self() || me.PID != os.Getpid() || len(me.Nonce) != 26 {
		t.Errorf("identity %+v, then %+v", me, Self())
	}
	if got, why := me.Judge(); got != Alive {
		t.Errorf("judged %v (%s)", got, why)
	}
	other := identityOf(t, os.Getpid())
	if !me.Same(other) || other.Nonce != "" {
		t.Errorf("%+v and %+v are not the same", me, other)
	}
	other.Nonce = "another"
	if me.Same(other) {
		t.Error("two nonces are the same")
	}
}

// That one may not signal a process says nothing of whether it lives.
func TestOtherUsersProcessIsJudged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	id := identityOf(t, sleeper(t).Process.Pid)
	verdicts := make(chan [2]Verdict)
	Self() // before this process becomes a user that may not look
	asStranger(func() {
		wrong := id
		wrong.Start++
		wrong.PIDFD++
		a, _ := id.Judge()
		b, _ := wrong.Judge()
		verdicts <- [2]Verdict{a, b}
	})
	if got := <-verdicts; got != [2]Verdict{Alive, Gone} {
		t.Errorf("a stranger judged the process %v, and one of its number before it %v", got[0], got[1])
	}
}

func TestEndedProcessIsGone(t *testing.T) {
	for _, reaped := range []bool{false, true} {
		cmd := sleeper(t)
		id := identityOf(t, cmd.Process.Pid)
		p, err := Open(id.PID)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if ended, err := p.Wait(t.Context(), time.Millisecond); ended || err != nil {
			t.Errorf("a living process has ended (%v)", err)
		}
		if err := p.Signal(unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if reaped {
			cmd.Wait()
		}
		if ended, err := p.Wait(t.Context(), 10*time.Second); !ended || err != nil {
			t.Errorf("a killed process has not ended (%v)", err)
		}
		if got, why := id.Judge(); got != Gone {
			t.Errorf("reaped=%v: judged %v (%s)", reaped, got, why)
		}
		wantGone(t, p.There())
		_, err = p.Identity()
		wantGone(t, err)
		if reaped {
			wantGone(t, p.Signal(unix.SIGTERM))
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	p, err := Open(sleeper(t).Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if ended, err := p.Wait(ctx, time.Hour); ended || err != nil {
		t.Errorf("a living process has ended (%v)", err)
	}
}

func TestAncestorsAreKnown(t *testing.T) {
	for pid, want := range map[int]bool{os.Getppid(): true, os.Getpid(): false, sleeper(t).Process.Pid: false} {
		if got := Ancestor(pid); got != want {
			t.Errorf("Ancestor(%d) is %v", pid, got)
		}
	}
}

func TestGoneIsNotAnUnknownNumber(t *testing.T) {
	_, err := Open(1 << 29)
	wantGone(t, err)
	if _, err = Open(0); err == nil || errors.Is(err, status.Gone) {
		t.Errorf("got %v for the number 0", err)
	}
}
