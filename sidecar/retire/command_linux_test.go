package retire

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

func shell(script string, args ...string) *exec.Cmd {
	return exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
}

func TestRetireWithRunsTheStopCommandBehindTheFence(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	next := actor.New(t, dir)
	next.Must("ignore", "ready")
	p := prepare(t, dir)
	actor.At(t, failpoint.RetireAfterFence, func() { next.Tell("open") })
	out := filepath.Join(t.TempDir(), "out")
	stop := shell(`readlink /proc/self/fd/$FREEHOLD_FENCE_FD >"$2"; cut -d" " -f5 /proc/$$/stat >>"$2"; kill $1`, fmt.Sprint(a.PID()), out)
	r, err := p.RunWith(t.Context(), stop, brief())
	if err != nil || r.Outcome != Retired || !has(r, proofStopRun) || has(r, proofSignalled) {
		t.Fatalf("%v %v (%v)", r.Outcome, r.Proofs, err)
	}
	want := fmt.Sprintf("%s\n%d", metaPath(dir, "watchdog.fence"), stop.Process.Pid)
	if got := strings.Join(strings.Fields(readFile(t, out)), "\n"); got != want {
		t.Errorf("the stop command saw\n%s\nwant its fence and a process group of its own\n%s", got, want)
	}
	if said := next.Hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("the successor said %q", said)
	}
}

func TestRetireWithKillsTheGroupOfALateStopCommand(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	pids := filepath.Join(t.TempDir(), "pids")
	grace := 200 * time.Millisecond
	var r Retirement
	var err error
	for ; ; grace *= 4 { // until the command has come so far
		stop := shell(`trap "" TERM; sleep 600 & echo $! $$ >"$1.new"; mv "$1.new" "$1"; wait`, pids)
		r, err = prepare(t, dir).RunWith(t.Context(), stop, &Options{Grace: grace})
		if _, missing := os.Stat(pids); missing == nil || grace > 20*time.Second {
			break
		}
	}
	wantError(t, err, store.DeadlinePassed, fmt.Sprintf("the stop command did not end within %v and was killed", grace), fmt.Sprint(a.PID()))
	said.Same(t, "retire with: a late stop command", err, dir, "STATE", grace.String(), "GRACE")
	if r.Outcome != NotRetired || !has(r, proofStopRun) || !a.Alive() {
		t.Errorf("%v %v", r.Outcome, r.Proofs)
	}
	for _, pid := range strings.Fields(readFile(t, pids)) {
		actor.Eventually(t, "the stop command's processes are gone", func() bool {
			return unix.Kill(actor.Atoi(t, pid), 0) != nil || strings.Contains(process.Condition(actor.Atoi(t, pid)), "ended")
		})
	}
	_, err = openWatchdog(dir, 0)
	wantError(t, err, sidecar.ErrBusy, "exclusive") // and not at the fence
	_, err = prepare(t, dir).RunWith(t.Context(), shell("exit 3"), &Options{Grace: 50 * time.Millisecond})
	said.Same(t, "retire with: a stop command that fails", err, dir, "STATE")
	// With Kill, exactly the holder is killed in the end.
	r, err = prepare(t, dir).RunWith(t.Context(), shell("exit 3"), &Options{Grace: 50 * time.Millisecond, Kill: true})
	if err != nil || r.Outcome != Retired || !has(r, proofKilled) {
		t.Errorf("%v %v (%v)", r.Outcome, r.Proofs, err)
	}
}

// What a stop command leaves running in its group is over at the deadline, too:
// it could stop whoever comes next.
func TestRetireWithKillsWhatACommandLeft(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	a.Must("ignore", "ready")
	var left strings.Builder
	stop := shell(`sleep 600 >/dev/null 2>&1 & echo $!; exit 3`)
	stop.Stdout = &left
	r, err := prepare(t, dir).RunWith(t.Context(), stop, &Options{Grace: 200 * time.Millisecond})
	wantError(t, err, store.DeadlinePassed)
	if !has(r, proofStopRun) || has(r, proofKilled) || !a.Alive() {
		t.Errorf("%v", r.Proofs)
	}
	if text := strings.TrimSpace(left.String()); text != "" { // else the machine is so slow that nothing was left
		actor.Eventually(t, "the processes of the stop command are gone", func() bool {
			return unix.Kill(actor.Atoi(t, text), 0) != nil || strings.Contains(process.Condition(actor.Atoi(t, text)), "ended")
		})
	}
}

func TestRetireWithRunsNothingForAnotherProcess(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	p := prepare(t, dir)
	ran := filepath.Join(t.TempDir(), "ran")
	touch := func() *exec.Cmd { return shell(`touch "$1"`, ran) }
	a.Kill()
	if r, err := p.RunWith(t.Context(), touch(), brief()); err != nil || r.Outcome != AlreadyGone || has(r, proofStopRun) {
		t.Errorf("%v (%v)", r, err)
	}
	b := actor.New(t, dir)
	b.Open()
	_, err := p.RunWith(t.Context(), touch(), brief())
	wantError(t, err, store.IdentityChanged)
	if _, err := os.Stat(ran); err == nil {
		t.Error("the stop command ran")
	}
	p = prepare(t, dir)
	r, err := p.RunWith(t.Context(), exec.Command("/proc/nonexistent"), brief())
	wantError(t, err, os.ErrNotExist, "the stop command could not be run", "nothing was signalled")
	said.Same(t, "retire with: no such command", err, dir, "STATE")
	if has(r, proofStopRun) || !b.Alive() {
		t.Error("a command that does not exist had an effect")
	}
}

// The fence stays shut until the stop command is over, even if the caller is
// killed, and opens with the return even if the command left a process behind.
func TestFenceLastsAsLongAsTheStopCommand(t *testing.T) {
	dir := newState(t)
	a := actor.New(t, dir)
	a.Open()
	a.Must("ignore", "ready")
	retirer := actor.New(t, dir)
	started := filepath.Join(t.TempDir(), "started")
	retirer.Tell("retirewith touch " + started + "; while [ -e " + started + " ]; do sleep 0.01; done")
	actor.Eventually(t, "the stop command runs", func() bool { _, err := os.Stat(started); return err == nil })
	retirer.Kill()
	a.Kill()
	next := actor.New(t, dir)
	next.Tell("open")
	next.Silent(100 * time.Millisecond)
	os.RemoveAll(started)
	if said := next.Hear(); !strings.HasPrefix(said, "open ") {
		t.Errorf("the successor said %q", said)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop := shell(`sleep 600 >/dev/null 2>&1 & echo $!; kill $1`, fmt.Sprint(next.PID()))
	var left strings.Builder
	stop.Stdout = &left
	if r, err := prepare(t, dir).RunWith(ctx, stop, brief()); err != nil || r.Outcome != Retired {
		t.Fatalf("%v (%v)", r, err)
	}
	defer unix.Kill(actor.Atoi(t, strings.TrimSpace(left.String())), unix.SIGKILL)
	mustOpen(t, dir)
}
