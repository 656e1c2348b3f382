package retire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func init() {
	roles["reuse"] = roleReuse
	roles["elsewhere"] = roleElsewhere
}

// A process that has the number of the prepared one, which it got in the same
// clock tick, is never signalled (C-45).
func TestReusedNumberIsNeverSignalled(t *testing.T) {
	cmd := actor.InPIDNamespace(t, "reuse", newState(t), fmt.Sprint(actor.Counted(t, 20)))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s", out)
	if !strings.Contains(string(out), " 0 decoys signalled") {
		t.Error("see above")
	}
}

// roleReuse is the first process of a PID namespace: it starts a holder, kills
// it, gives its number to a decoy, and retires the holder.
func roleReuse(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	r := &reuse{dir: args[0]}
	for round := range n {
		if err := r.round(round); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	fmt.Printf("%d numbers used again, %d with the same start time, %d decoys signalled", n, r.sameStart, r.hit)
	return nil
}

type reuse struct {
	dir            string
	sameStart, hit int
}

func (r *reuse) round(round int) error {
	holder, err := startHolder(r.dir)
	if err != nil {
		return err
	}
	p, err := Prepare(r.dir, "watchdog")
	if err != nil {
		return err
	}
	old, err := os.ReadFile(recordPath(r.dir))
	if err != nil {
		return err
	}
	holder.Process.Kill()
	holder.Wait()
	decoy, err := startAs(p.Holder.Identity.PID)
	if err != nil {
		return err
	}
	defer func() { decoy.Process.Kill(); decoy.Wait() }()
	now, err := process.IdentityOf(decoy.Process.Pid)
	if err != nil {
		return err
	}
	if now.Start == p.Holder.Identity.Start {
		r.sameStart++
	}
	if verdict, why := p.Holder.Identity.Judge(); now.PIDFD != 0 && verdict != process.Gone {
		return fmt.Errorf("the killed holder is judged %v: %s", verdict, why)
	}
	if err := r.retire(round, p, old); err != nil {
		return err
	}
	if how, hit := struck(decoy.Process.Pid); hit {
		fmt.Printf("round %d: the decoy %s\n", round, how)
		r.hit++
	}
	return nil
}

// struck reports whether an unreaped child has been hit by a signal, and how.
func struck(pid int) (how string, hit bool) {
	p, err := process.Open(pid)
	if err != nil {
		return err.Error(), true
	}
	defer p.Close()
	const onItsWay = 3 * time.Millisecond // for a signal to have its effect
	if ended, err := p.Wait(context.Background(), onItsWay); err != nil || !ended {
		return fmt.Sprint(err), err != nil
	}
	return "ended", true
}

// retire retires the killed holder, in one of the ways in which that can go.
func (r *reuse) retire(round int, p *Prepared, old []byte) error {
	want := error(nil)
	switch round % 4 {
	case 1: // as on a kernel without pidfd inodes
		p.Holder.Identity.PIDFD = 0
	case 2, 3: // a successor holds the lease
		next, err := startHolder(r.dir)
		if err != nil {
			return err
		}
		defer func() { next.Process.Kill(); next.Wait() }()
		want = store.IdentityChanged
		if round%4 == 3 { // and the record is an old copy, from a kernel without pidfd inodes
			p.Holder.Identity.PIDFD = 0
			text := strings.Replace(string(old), `"pidfd"`, `"was_pidfd"`, 1)
			if err := os.WriteFile(recordPath(r.dir), []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	result, err := p.Run(context.Background(), &Options{Grace: 20 * time.Millisecond, Kill: true})
	switch {
	case signalled(result):
		return fmt.Errorf("something was sent: %v", result.Proofs)
	case want == nil && (err != nil || result.Outcome != AlreadyGone):
		return fmt.Errorf("got %v (%w), want already gone", result, err)
	case want != nil && !errors.Is(err, want):
		return fmt.Errorf("got %v (%w), want %w", result, err, want)
	}
	return nil
}

// startHolder starts a process that holds watchdog's lease.
func startHolder(dir string) (*exec.Cmd, error) {
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), role.Variable+"=actor")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	fmt.Fprintln(in, "open")
	line, err := bufio.NewReader(out).ReadString('\n')
	if !strings.HasPrefix(line, "open ") {
		cmd.Process.Kill()
		cmd.Wait()
		return nil, fmt.Errorf("a holder said %q (%w)", line, err)
	}
	return cmd, nil
}

// startAs starts a process that has the number pid, which must be free.
func startAs(pid int) (*exec.Cmd, error) {
	for range 100 {
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", fmt.Append(nil, pid-1), 0); err != nil {
			return nil, err
		}
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		if cmd.Process.Pid == pid {
			return cmd, nil
		}
		cmd.Process.Kill() // a thread of this process was quicker
		cmd.Wait()
	}
	return nil, fmt.Errorf("the number %d was not to be had", pid)
}

// A process in another PID namespace shares the state, and its numbers mean
// nothing here: the lock keeps others out, and nobody is signalled.
func TestHolderInAnotherNamespaceIsNotJudged(t *testing.T) {
	dir := newState(t)
	a := actor.Start(t, actor.InPIDNamespace(t, "actor", dir))
	epoch := a.Open()
	a.Must("ignore", "ready")
	_, err := openWatchdog(dir, 0)
	wantError(t, err, sidecar.ErrBusy)
	p := prepare(t, dir)
	if verdict, why := p.Holder.Identity.Judge(); verdict != process.CannotJudge || !strings.Contains(why, "namespace") {
		t.Errorf("judged %v: %s", verdict, why)
	}
	r, err := p.Run(t.Context(), &Options{Grace: 20 * time.Millisecond, Kill: true})
	if signalled(r) || !errors.Is(err, store.NotJudged) && !errors.Is(err, store.IdentityChanged) {
		t.Errorf("%v (%v)", r, err)
	}
	a.Must("commit", fmt.Sprintf("applied %d.1.", epoch))
	a.Must("close", "closed")
	if r, err = p.Run(t.Context(), brief()); err != nil || r.Outcome != AlreadyGone {
		t.Errorf("%v (%v)", r, err)
	}
}

// A boot id that differs, as after a reboot, begins epochs; the old record is
// no obstacle and nobody is judged by it.
func TestRebootFreesEveryLease(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	epoch := a.Open()
	a.Kill()
	boot := t.TempDir() + "/boot_id"
	if err := os.WriteFile(boot, []byte("01234567-89ab-4cde-8f01-23456789abcd\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	script := `mount --bind "$1" /proc/sys/kernel/random/boot_id && exec "$2" "$3"`
	args := []string{"--mount", "sh", "-c", script, "sh", boot, os.Args[0], dir}
	if os.Geteuid() != 0 {
		args = append([]string{"--map-root-user"}, args...)
	}
	if out, err := exec.Command("unshare", append(args[:len(args)-2:len(args)-2], "/bin/true", dir)...).CombinedOutput(); err != nil {
		t.Skipf("no boot id to choose: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), role.Variable+"=actor")
	b := actor.Start(t, cmd)
	if next := b.Open(); next <= epoch {
		t.Errorf("epoch %d after %d", next, epoch)
	}
	p := prepare(t, dir)
	if verdict, why := p.Holder.Identity.Judge(); verdict != process.CannotJudge || !strings.Contains(why, "boot") {
		t.Errorf("judged %v: %s", verdict, why)
	}
	b.Must("close", "closed")
	if r, err := p.Run(t.Context(), brief()); err != nil || r.Outcome != AlreadyGone || has(r, proofGone) {
		t.Errorf("%v (%v)", r, err)
	}
}

// Start times look different from another time namespace; the process is the
// same by its pidfd (C-124).
func TestRetireFromAnotherTimeNamespace(t *testing.T) {
	if process.Self().PIDFD == 0 {
		t.Skip("this kernel has no pidfd inodes")
	}
	unshare := []string{"--time", "--boottime", "86400", "--fork", "--kill-child"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(unshare[:len(unshare):len(unshare)], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no time namespace: %v: %s", err, out)
	}
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	cmd := exec.Command("unshare", append(unshare, os.Args[0], dir)...)
	cmd.Env = append(os.Environ(), role.Variable+"=actor")
	b := actor.Start(t, cmd)
	if said := b.Ask("open"); !strings.HasPrefix(said, "busy") || !strings.Contains(said, `program "actor" since`) {
		t.Errorf("it said %q", said)
	}
	b.Must("retire 1m", Retired.String())
	b.Must("open", "open")
	if verdict, why := record(t, dir).Holder.Identity.Judge(); verdict != process.Alive {
		t.Errorf("its own lease is judged %v: %s", verdict, why)
	}
}

// Where /proc is that of another PID namespace, its numbers are other
// processes': nobody is judged by it, and nobody is signalled.
func TestForeignProcJudgesNobody(t *testing.T) {
	unshare := []string{"--pid", "--fork", "--kill-child"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(unshare[:len(unshare):len(unshare)], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no PID namespace: %v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", append(unshare, os.Args[0], newState(t))...)
	cmd.Env = append(os.Environ(), role.Variable+"=elsewhere")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// roleElsewhere is the first process of a PID namespace, with the /proc of the
// one around it.
func roleElsewhere(args []string) error {
	holder, err := startHolder(args[0])
	if err != nil {
		return err
	}
	defer func() { holder.Process.Kill(); holder.Wait() }()
	p, err := Prepare(args[0], "watchdog")
	if err != nil {
		return err
	}
	if verdict, why := p.Holder.Identity.Judge(); verdict != process.CannotJudge || !strings.Contains(why, "/proc") {
		return fmt.Errorf("the live holder is judged %v: %s", verdict, why)
	}
	if s, err := sidecar.LeaseStatus(args[0], "watchdog"); err != nil || s.PID != 0 {
		return fmt.Errorf("the kernel is said to name process %d (%w)", s.PID, err)
	}
	for _, p := range []*Prepared{p, {Dir: p.Dir, Owner: p.Owner, Holding: Holding{Epoch: p.Epoch, Holder: lease.Holder{Identity: process.Identity{PID: p.Holder.Identity.PID}}}}} {
		if r, err := p.Run(context.Background(), &Options{Grace: 20 * time.Millisecond, Kill: true}); signalled(r) || !errors.Is(err, store.NotJudged) {
			return fmt.Errorf("retired: %v (%w)", r, err)
		}
	}
	holder.Process.Kill()
	holder.Wait()
	if r, err := p.Run(context.Background(), nil); err != nil || r.Outcome != AlreadyGone || has(r, proofGone) {
		return fmt.Errorf("once it was killed: %v (%w)", r, err)
	}
	return nil
}
