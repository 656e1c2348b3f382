package store

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

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
	Self() // before this process becomes somebody who may not look
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
		p, err := OpenProcess(id.PID)
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
		wantError(t, p.There(), ErrGone)
		_, err = p.Identity()
		wantError(t, err, ErrGone)
		if status, ok := p.ExitStatus(); ok && status.Signal() != syscall.SIGKILL {
			t.Errorf("reaped=%v: it ended with %v", reaped, status)
		} else if !ok && !reaped {
			t.Error("how an unreaped process ended is not known")
		}
		if reaped {
			wantError(t, p.Signal(unix.SIGTERM), ErrGone)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	p, err := OpenProcess(sleeper(t).Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if ended, err := p.Wait(ctx, time.Hour); ended || err != nil {
		t.Errorf("a living process has ended (%v)", err)
	}
	if status, ok := p.ExitStatus(); ok {
		t.Errorf("a living process ended with %v", status)
	}
}

func TestAncestorsAreKnown(t *testing.T) {
	for pid, want := range map[int]bool{os.Getppid(): true, os.Getpid(): false, sleeper(t).Process.Pid: false} {
		if got := Ancestor(pid); got != want {
			t.Errorf("Ancestor(%d) is %v", pid, got)
		}
	}
}

func TestHoldsIsTrueOfTheHolderAlone(t *testing.T) {
	d := newState(t)
	lock := openLock(t, d, OwnerLease("watchdog"))
	me, err := OpenProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer me.Close()
	holds := func(p *Process) bool {
		t.Helper()
		ok, err := p.Holds(lock)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if holds(me) {
		t.Error("a free lock is held")
	}
	for take, want := range map[string]bool{"Try": true, "TryShared": false} {
		ok, err := map[string]func() (bool, error){"Try": lock.Try, "TryShared": lock.TryShared}[take]()
		if !ok || err != nil {
			t.Fatal(err)
		}
		if holds(me) != want || lock.Holder() != os.Getpid() {
			t.Errorf("after %s: holds %v, and the holder is %d", take, holds(me), lock.Holder())
		}
		lock.Release()
	}
	if ok, err := lock.Try(); !ok || err != nil {
		t.Fatal(err)
	}
	// A child that inherited the descriptor carries the lock, and is not who
	// took it.
	child := exec.Command("sleep", "600")
	child.ExtraFiles = []*os.File{lock.File()}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	heir, err := OpenProcess(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer heir.Close()
	if holds(heir) || !holds(me) {
		t.Error("an heir counts as the holder")
	}
	if got := lock.Carriers(); len(got) != 2 {
		t.Errorf("carried by %v, want %d and %d", got, os.Getpid(), child.Process.Pid)
	}
}

func TestGoneIsNotAnUnknownNumber(t *testing.T) {
	_, err := OpenProcess(1 << 29)
	wantError(t, err, ErrGone)
	if _, err = OpenProcess(0); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("got %v for the number 0", err)
	}
}
