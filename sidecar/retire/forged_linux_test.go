package retire

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	ossignal "os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// Whom a forged record names is not signalled. Each is told truthfully in all
// that the kernel knows, so that only the lease is lacking.
func TestForgedRecordSignalsNobody(t *testing.T) {
	terms := make(chan os.Signal, 8)
	ossignal.Notify(terms, syscall.SIGTERM)
	defer ossignal.Stop(terms)
	stranger := exec.Command("sleep", "600")
	if os.Geteuid() == 0 {
		stranger.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	innocent := exec.Command("sleep", "600")
	for _, cmd := range []*exec.Cmd{stranger, innocent} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
	}
	for name, pid := range map[string]int{
		"init": 1, "the caller": os.Getpid(), "the parent": os.Getppid(), "an innocent": innocent.Process.Pid, "another user's": stranger.Process.Pid,
	} {
		for _, lease := range []string{"held", "free"} {
			t.Run(name+"/"+lease, func(t *testing.T) {
				dir := newState(t)
				a := actor.New(t, dir)
				a.Open()
				a.Must("ignore", "ready")
				l := record(t, dir)
				var err error
				if l.Holder.Identity, err = process.IdentityOf(pid); err != nil {
					t.Fatal(err)
				}
				l.Holder.Identity.Nonce = "forged"
				l.Holder.Identity.PIDNamespace = process.Self().PIDNamespace // which not everybody may look up
				writeRecord(t, dir, l)
				if lease == "free" {
					a.Kill()
				}
				r, err := prepare(t, dir).Run(t.Context(), &Options{Grace: 50 * time.Millisecond, Kill: true})
				if signalled(r) {
					t.Fatalf("something was sent: %v", r.Proofs)
				}
				if lease == "free" {
					if err != nil || r.Outcome != AlreadyGone {
						t.Errorf("%v (%v)", r, err)
					}
					return
				}
				want := map[bool]error{true: store.IdentityChanged, false: store.Protected}[name == "an innocent"]
				wantError(t, err, want)
				if r.Current != nil && r.Current.Holder.Identity.PID != a.PID() {
					t.Errorf("the holder is %d, and not %v", a.PID(), r.Current)
				}
				a.Silent(0)
			})
		}
	}
	select {
	case <-terms:
		t.Error("the caller was signalled")
	default:
	}
	for _, cmd := range []*exec.Cmd{stranger, innocent} {
		if how, hit := struck(cmd.Process.Pid); hit {
			t.Errorf("process %d was hit: it %s", cmd.Process.Pid, how)
		}
	}
}

// What cannot be judged is not signalled: the kernel's lock alone decides.
func TestRecordOfElsewhereIsNotJudged(t *testing.T) {
	for _, how := range []string{"another boot", "another space", "no start"} {
		t.Run(how, func(t *testing.T) {
			dir := newState(t)
			a := actor.New(t, dir)
			a.Open()
			a.Must("ignore", "ready")
			spoil(t, dir, how)
			if how == "no start" { // on a kernel without pidfd inodes
				l := record(t, dir)
				l.Holder.Identity.PIDFD = 0
				writeRecord(t, dir, l)
			}
			p := prepare(t, dir)
			r, err := p.Run(t.Context(), brief())
			wantError(t, err, store.NotJudged, "nothing was signalled")
			said.Same(t, "retire: no proof: "+how, err, dir, "STATE")
			if signalled(r) {
				t.Errorf("something was sent: %v", r.Proofs)
			}
			a.Silent(10 * time.Millisecond)
			a.Kill()
			if r, err = p.Run(t.Context(), brief()); err != nil || r.Outcome != AlreadyGone {
				t.Errorf("%v (%v)", r, err)
			}
		})
	}
}

// A record that says nothing does not protect a process that the kernel proves
// to be the prepared one and to hold the lease.
func TestRetireWithoutARecord(t *testing.T) {
	if process.Self().PIDFD == 0 {
		t.Skip("this kernel has no pidfd inodes")
	}
	for _, how := range []string{"removed", "garbage", "a pipe"} {
		t.Run(how, func(t *testing.T) {
			dir := newState(t)
			a := actor.New(t, dir)
			a.Open()
			p := prepare(t, dir)
			spoil(t, dir, how)
			r, err := p.Run(t.Context(), brief())
			if err != nil || r.Outcome != Retired || has(r, proofRecord) || !has(r, proofHolding) {
				t.Errorf("%v (%v)", r, err)
			}
			if l := record(t, dir); l.Holder != nil || len(l.Retired) != 1 {
				t.Errorf("the record is %+v", l)
			}
		})
	}
}

// A lease that a child inherited is not free, however dead its holder.
func TestRetireNamesWhoInheritedTheLease(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	child, err := process.IdentityOf(actor.Atoi(t, a.Must("leak", "leaked")))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(child.PID, unix.SIGKILL)
	p := prepare(t, dir)
	r, err := p.Run(t.Context(), brief())
	wantError(t, err, store.DeadlinePassed, fmt.Sprint(child.PID), "inherited")
	said.Same(t, "retire: the lease was inherited", err, dir, "STATE")
	if r.Outcome == AlreadyGone || has(r, proofFree) || !has(r, proofExited) {
		t.Errorf("%v %v", r.Outcome, r.Proofs)
	}
	// Neither does the child count as the holder, if the record names it.
	l := record(t, dir)
	l.Holder = &lease.Holder{Identity: child, Program: "forged"}
	writeRecord(t, dir, l)
	want := store.IdentityChanged
	if process.Self().PIDNamespace != 0xeffffffc { // in a container the lock's holder cannot be seen
		want = store.NotJudged
	}
	r, err = prepare(t, dir).Run(t.Context(), brief())
	wantError(t, err, want)
	if signalled(r) {
		t.Errorf("something was sent: %v", r.Proofs)
	}
}

// spoil edits the record of watchdog's lease.
func spoil(t *testing.T, dir, how string) {
	t.Helper()
	path, l := recordPath(dir), record(t, dir)
	var err error
	switch how {
	case "removed":
		err = os.Remove(path)
	case "garbage":
		err = os.WriteFile(path, []byte("{\x00"), 0o600)
	case "a pipe":
		err = errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600))
	case "no start":
		l.Holder.Identity.Start = 0
	case "another boot":
		l.Holder.Identity.Boot = "00000000-0000-0000-0000-000000000000"
	case "another space":
		l.Holder.Identity.PIDNamespace = 1
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(how, " ") && how != "a pipe" {
		writeRecord(t, dir, l)
	}
}

// In a container, too, a lease that a child inherited is not free.
func TestInheritedLeaseIsNamedInAContainer(t *testing.T) {
	cmd := actor.InPIDNamespace(t, "", "-test.v", "-test.run=^TestRetireNamesWhoInheritedTheLease$")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v: %s", err, out)
	}
}
