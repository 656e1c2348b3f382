package retire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/lease"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/actor"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// This is the interleaving that started it all, under a real supervisor: a
// process is prepared for its retirement, dies in the window, and runit's
// runsv has a successor up within milliseconds. runsv does so for a service
// that was up for a second, so that many services run in parallel.

// interleavingsVar says how many interleavings to play: a few if it is not
// set, 1,000 in CI.
const interleavingsVar = "FREEHOLD_INTERLEAVINGS"

func interleavings(t *testing.T) (total, services int) {
	t.Helper()
	total = 4 * len(failpoint.Retire)
	if text := os.Getenv(interleavingsVar); text != "" {
		total = actor.Atoi(t, text)
	}
	const most = 40
	return total, min(most, (total+1)/2)
}

func TestRetireUnderASupervisorNeverHitsTheSuccessor(t *testing.T) {
	runsv, err := exec.LookPath("runsv")
	if err != nil {
		t.Skip("runsv is missing: install Debian's package runit")
	}
	runtime.LockOSThread() // the supervisors end with the thread that starts them
	defer runtime.UnlockOSThread()
	total, n := interleavings(t)
	services := make([]*service, n)
	for i := range services {
		services[i] = newService(t, runsv)
	}
	start := time.Now()
	tally := playAll(services, total, func(s *service, i int) outcome {
		return s.retire(failpoint.Retire[i%len(failpoint.Retire)])
	})
	took := time.Since(start)
	t.Logf("Retire: %d interleavings under %d supervisors, %.1f a second: %v", total, n, float64(total)/took.Seconds(), tally)
	for _, s := range services { // a signal may show late
		hit, err := s.goesOn()
		if tally.problems = append(tally.problems, err); hit {
			tally.hits++
		}
	}
	if err := errors.Join(tally.problems...); err != nil {
		t.Error(err)
	}
	if tally.played != total || tally.hits != 0 || tally.falseReports != 0 {
		t.Errorf("played %d of %d, hit %d successors, reported %d falsely as retired", tally.played, total, tally.hits, tally.falseReports)
	}
	old := playAll(services, n, func(s *service, _ int) outcome { return s.stopByName() })
	t.Logf("the old way: %v", old)
	if old.hits == 0 || old.falseReports == 0 || len(old.problems) > 0 {
		t.Errorf("the old way, which checks and then stops by name, is shown to hit nobody: %v %v", old, old.problems)
	}
	for _, s := range services {
		select {
		case <-s.gaveUp:
			t.Errorf("the supervisor of %s gave up", s.folder)
		default:
		}
	}
}

// An outcome is what became of one interleaving.
type outcome struct {
	hit, falseReport bool
	said             string
	problem          error
}

// A tally sums outcomes up.
type tally struct {
	played, hits, falseReports int
	said                       map[string]int
	problems                   []error
}

func (t tally) String() string {
	return fmt.Sprintf("%d successors hit, %d false reports, answers %v", t.hits, t.falseReports, t.said)
}

// playAll plays total interleavings, each service one at a time. A service
// with which something is wrong plays no more.
func playAll(services []*service, total int, play func(s *service, i int) outcome) tally {
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := tally{said: map[string]int{}}
	for _, s := range services {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < total; i = int(next.Add(1)) - 1 {
				o := play(s, i)
				mu.Lock()
				sum.add(o)
				mu.Unlock()
				if o.problem != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return sum
}

func (t *tally) add(o outcome) {
	if o.problem != nil {
		t.problems = append(t.problems, o.problem)
		return
	}
	t.played++
	t.said[o.said]++
	if o.hit {
		t.hits++
	}
	if o.falseReport {
		t.falseReports++
	}
}

// retire plays one interleaving: Retire is stopped at step, and the process
// that it was prepared for dies and has a successor.
func (s *service) retire(step string) (o outcome) {
	fail := func(err error) outcome { return outcome{problem: fmt.Errorf("%s: %w", step, err)} }
	old, err := s.up()
	if err != nil {
		return fail(err)
	}
	late := !s.terminated[old].IsZero() // the successor of before was hit after all
	// What comes after the end of the process is reached once it has died.
	dies := failpoint.Retire[min(slices.Index(failpoint.Retire, step), slices.Index(failpoint.Retire, failpoint.RetireAfterSignal))]
	if err := errors.Join(s.ask("prepare", "prepared "+strconv.Itoa(old)), s.ask("stop "+dies+" "+step, "ready"), s.ask("retire", "at "+dies)); err != nil {
		return fail(err)
	}
	if err := s.die(); err != nil {
		return fail(err)
	}
	if step != dies {
		if err := s.ask("go", "at "+step); err != nil {
			return fail(err)
		}
	}
	if step == failpoint.RetireBeforeFence { // nothing keeps the successor out
		if _, err := s.goesOn(); err != nil {
			return fail(err)
		}
	}
	a, err := s.answer()
	if err != nil {
		return fail(err)
	}
	hit, err := s.goesOn()
	if err == nil {
		err = s.check(step, old, a)
	}
	if err != nil {
		return fail(err)
	}
	// Once signalled, a process that dies in another way counts as retired too.
	retired := a.Said == Retired.String() || s.recordedAsRetired(old)
	return outcome{hit: hit || late, said: a.Said, falseReport: retired && !slices.Contains(a.Proofs, proofSignalled)}
}

// An answer is what a retirer says at the end.
type answer struct {
	Said   string   `json:"said"`
	Error  string   `json:"error"`
	Proofs []string `json:"proofs"`
}

// ask tells the retirer a line and wants it to answer with another.
func (s *service) ask(line, want string) error {
	got, err := s.exchange(line)
	if err == nil && got != want {
		err = fmt.Errorf("the retirer, told to %s, said %q, want %q", line, got, want)
	}
	return err
}

func (s *service) exchange(line string) (string, error) {
	if _, err := fmt.Fprintln(s.tells, line); err != nil {
		return "", err
	}
	if !s.retirer.Scan() {
		return "", fmt.Errorf("the retirer, told to %s, ended: %v", line, s.retirer.Err())
	}
	return s.retirer.Text(), nil
}

// answer resumes the retirement and returns how it ended.
func (s *service) answer() (a answer, err error) {
	line, err := s.exchange("go")
	if err == nil {
		err = json.Unmarshal([]byte(line), &a)
	}
	return a, err
}

// check holds an answer against what was done. That an old process is said to
// be retired is counted elsewhere.
func (s *service) check(step string, old int, a answer) error {
	if !slices.Contains([]string{AlreadyGone.String(), Retired.String(), store.IdentityChanged.Error()}, a.Said) {
		return fmt.Errorf("the retirement of %d said %q: %s", old, a.Said, a.Error)
	}
	signalled := slices.Contains(a.Proofs, proofSignalled)
	sent := slices.Index(failpoint.Retire, step) >= slices.Index(failpoint.Retire, failpoint.RetireAfterSignal)
	if signalled != sent || slices.Contains(a.Proofs, proofKilled) {
		return fmt.Errorf("the retirement of %d proves %v", old, a.Proofs)
	}
	return nil
}

// recordedAsRetired reports whether the record says that the process was
// retired.
func (s *service) recordedAsRetired(pid int) bool {
	state, err := sidecar.LeaseStatus(s.dir, "watchdog")
	return err == nil && state.Lease != nil && slices.ContainsFunc(state.Lease.Retired, func(r lease.Retiree) bool {
		return r.Identity.PID == pid && r.Outcome == Retired.String()
	})
}

// stopByName is what was done before: look whether the process that runs is
// the prepared one, then stop the service by its name, which here is the file
// that the supervisor writes its number to, and see to it that the prepared
// process is gone.
func (s *service) stopByName() outcome {
	prepared, err := s.up()
	if err != nil {
		return outcome{problem: err}
	}
	running, err := s.pidFile()
	if err != nil || running != prepared {
		return outcome{problem: fmt.Errorf("the supervisor says that %d runs, and not %d (%w)", running, prepared, err)}
	}
	if err := s.die(); err != nil { // the window
		return outcome{problem: err}
	}
	named, err := s.pidFile()
	if err := cmp.Or(err, unix.Kill(named, unix.SIGTERM)); err != nil {
		return outcome{problem: err}
	}
	o := outcome{said: "still there"}
	if unix.Kill(prepared, 0) == unix.ESRCH {
		o.said, o.falseReport = "stopped", true // and somebody else was
	}
	if err := s.until("the successor is hit", func() bool { return !s.terminated[named].IsZero() }); err != nil {
		return outcome{problem: err}
	}
	o.hit = named != prepared
	return o
}

func (s *service) pidFile() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.folder, "supervise", "pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
