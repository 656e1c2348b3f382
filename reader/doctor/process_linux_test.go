package doctor_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func init() { scratch.Guard() }

// roleVar names the part that a re-executed test binary plays.
const roleVar = "FREEHOLD_TEST_ROLE"

// roles are the programs that tests run as processes of their own: they take
// something of a state, say so, and keep it until their standard input ends.
var roles = map[string]func(dir string) (taken any, err error){
	"hold": func(dir string) (any, error) {
		return sidecar.Open(context.Background(), dir, nil, "watchdog", nil)
	},
	"fence": func(dir string) (any, error) { return locked(dir, store.FilesOf("watchdog").Fence) },
	"lock":  func(dir string) (any, error) { return locked(dir, store.FilesOf("usage").Lock) },
	"heir": func(dir string) (any, error) { // leaves the lock to a child
		l, err := locked(dir, store.FilesOf("usage").Lock)
		if err != nil {
			return nil, err
		}
		heir := exec.Command("cat")
		heir.Stdin, heir.ExtraFiles = os.Stdin, []*os.File{l.File()}
		return heir, heir.Start()
	},
}

// locked takes a lock of the state.
func locked(dir, name string) (*statedir.Lock, error) {
	d, err := statedir.Open(dir)
	if err != nil {
		return nil, err
	}
	m, err := d.Manifest()
	if err != nil {
		return nil, err
	}
	l, err := d.OpenLock(m, name)
	if err != nil {
		return nil, err
	}
	if free, err := l.Try(); err != nil || !free {
		return nil, fmt.Errorf("%s: it is not free: %v", name, err)
	}
	return l, nil
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(complete(m.Run()))
	}
	taken, err := roles[role](os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("taken")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(taken)
}

// played starts a process that plays the role.
func played(t *testing.T, role, dir string) *os.Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], dir)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	check(t, err)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGCONT)
		stdin.Close()
		cmd.Wait()
	})
	if !bufio.NewScanner(stdout).Scan() {
		t.Fatalf("%s: it has not taken anything", role)
	}
	return cmd.Process
}

// stopped starts a process that plays the role, and stops it.
func stopped(t *testing.T, role, dir string) (pid int) {
	t.Helper()
	p := played(t, role, dir)
	check(t, p.Signal(syscall.SIGSTOP))
	awaitStop(p.Pid)
	return p.Pid
}

// awaitStop waits until the process is stopped: a signal takes its time.
func awaitStop(pid int) {
	for statedir.Condition(pid) == "" {
		time.Sleep(time.Millisecond)
	}
}

func TestAProcessThatDoesNotRunIsFoundByWhatItKeeps(t *testing.T) {
	for role, finding := range map[string]string{
		"hold":  "lease-stopped .freehold/watchdog.lease watchdog",
		"fence": "fence-shut .freehold/watchdog.fence watchdog",
		"lock":  "lock-stopped .freehold/usage.lock usage",
	} {
		t.Run(role, func(t *testing.T) {
			dir := newState(t)
			pid := stopped(t, role, dir)
			r := examine(t, dir, nil)
			if diff := cmp.Diff([]string{finding}, brief(r)); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			f := r.Findings[0]
			want := store.Remedy{Tool: []string{"kill", "-CONT", strconv.Itoa(pid)}, Note: "or end it"}
			if role == "hold" {
				s, err := sidecar.LeaseStatus(dir, "watchdog")
				check(t, err)
				want.Note = fmt.Sprintf("or retire it with --kill: epoch %d, process %d", s.Lease.Epoch, pid)
			}
			if !reflect.DeepEqual(f.Remedy, want) || !strings.Contains(f.Says, fmt.Sprintf("process %d ", pid)) {
				t.Errorf("it says %q and the remedy %v, want %v", f.Says, f.Remedy, want)
			}
			if role == "lock" { // it goes on to hold the lock
				check(t, syscall.Kill(pid, syscall.SIGCONT))
				for statedir.Condition(pid) != "" {
					time.Sleep(time.Millisecond)
				}
				if diff := cmp.Diff([]string{"lock-held .freehold/usage.lock usage"}, brief(examine(t, dir, nil))); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				return
			}
			cure(t, dir, nil)
		})
	}
}

// Patches wait for as long as a stopped process has the lock: it is what keeps
// them from being folded, and the remedy is about it.
func TestPatchesThatWaitForAStoppedProcessAreItsFinding(t *testing.T) {
	dir := newState(t)
	deferUpdate(`{"field":"turns","op":"add","value":2}`)(t, dir)
	aged(t, dir)
	p := played(t, "lock", dir)
	if found := brief(examine(t, dir, nil)); !slices.Equal(found, []string{"lock-held .freehold/usage.lock usage"}) {
		t.Errorf("while a process has the lock that runs: %q", found)
	}
	check(t, p.Signal(syscall.SIGSTOP))
	awaitStop(p.Pid)
	r := examine(t, dir, nil)
	if diff := cmp.Diff([]string{"lock-stopped .freehold/usage.lock usage"}, brief(r)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if says := r.Findings[0].Says; !strings.Contains(says, fmt.Sprintf("process %d holds the lock and is stopped", p.Pid)) || !strings.Contains(says, "as usage is deferred and waits") {
		t.Errorf("it says %q", says)
	}
	deferUpdate(`{"field":"turns","op":"add","value":18446744073709551615}`)(t, dir)
	f := examine(t, dir, nil).Findings[1] // a fold would wait for the lock
	if f.Code != "patch-stuck" || len(f.Remedy.Tool) != 3 || f.Remedy.Note != "then fold the patches" {
		t.Errorf("of a patch that cannot be folded it says %+v", f)
	}
	check(t, p.Kill())
	p.Wait()
	cure(t, dir, nil)
}

func TestALockThatOutlivedItsHolderIsFoundByWhoKeepsIt(t *testing.T) {
	dir := newState(t)
	p := played(t, "heir", dir)
	check(t, p.Kill())
	p.Wait()
	r := examine(t, dir, nil)
	if diff := cmp.Diff([]string{"lock-stopped .freehold/usage.lock usage"}, brief(r)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	f := r.Findings[0]
	_, named, ok := strings.Cut(f.Remedy.Note, ": process ")
	heir, err := strconv.Atoi(named)
	if !ok || err != nil || heir == p.Pid || f.Remedy.Tool != nil {
		t.Fatalf("process %d is gone, and the remedy is %v", p.Pid, f.Remedy)
	}
	check(t, unix.Kill(heir, unix.SIGKILL))
	for found := brief(examine(t, dir, nil)); len(found) > 0; found = brief(examine(t, dir, nil)) { // until it is no more
		time.Sleep(time.Millisecond)
	}
}

// A state that its reader may not open is no instance of anything.
func TestAStateThatMayNotBeOpenedIsFound(t *testing.T) {
	dir := newState(t)
	check(t, os.Chmod(dir, 0))
	defer os.Chmod(dir, 0o700)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check(t, unix.Setfsuid(65534)) // root may open everything; of this thread alone, and nothing to others
	defer unix.Setfsuid(os.Geteuid())
	if diff := cmp.Diff([]string{"state-unreadable ."}, brief(examine(t, dir, nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheRecordOfALeaseIsComparedWithTheKernel(t *testing.T) {
	dir := newState(t)
	p := played(t, "hold", dir)
	if found := brief(examine(t, dir, nil)); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	edit(".freehold/watchdog.lease.json", fmt.Sprintf(`"pid": %d,`, p.Pid), fmt.Sprintf(`"pid": %d,`, os.Getpid()))(t, dir)
	if diff := cmp.Diff([]string{"lease-disagrees .freehold/watchdog.lease.json watchdog"}, brief(examine(t, dir, nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	cure(t, dir, nil)
	edit(".freehold/watchdog.lease.json", fmt.Sprintf(`"pid": %d,`, os.Getpid()), fmt.Sprintf(`"pid": %d,`, p.Pid))(t, dir)
	check(t, p.Kill())
	p.Wait()
	if diff := cmp.Diff([]string{"lease-gone .freehold/watchdog.lease.json watchdog"}, brief(examine(t, dir, nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	cure(t, dir, nil)
}

// /proc is none of those that are known to be local.
func TestAFileSystemWhoseLocksDoNotReachEverybodyIsFound(t *testing.T) {
	if diff := cmp.Diff([]string{"network-file-system ."}, brief(examine(t, "/proc", nil))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A commit replaces the file, and so what somebody put on it is lost.
func TestAttributesThatACommitWouldLoseAreFound(t *testing.T) {
	dir := newState(t)
	err := unix.Setxattr(filepath.Join(dir, "cost.json"), "user.note", []byte("x"), 0)
	if errors.Is(err, unix.ENOTSUP) {
		t.Skip("the file system of the temporary directory has no attributes")
	}
	check(t, err)
	r := examine(t, dir, nil)
	if diff := cmp.Diff([]string{"attributes cost.json cost"}, brief(r)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if !strings.Contains(r.Findings[0].Says, "loses its user.note") {
		t.Errorf("it says %q", r.Findings[0].Says)
	}
	if _, err := exec.LookPath("setfattr"); err == nil {
		cure(t, dir, nil)
	}
}

func TestAnotherUsersFileIsFound(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	dir := newState(t)
	check(t, os.Chown(filepath.Join(dir, "cost.json"), 65534, 65534))
	r := examine(t, dir, nil)
	if diff := cmp.Diff([]string{"other-user cost.json cost"}, brief(r)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if want := fmt.Sprintf("chown 0:%d ", os.Getegid()) + filepath.Join(dir, "cost.json"); r.Findings[0].Remedy.String() != want {
		t.Errorf("the remedy is %v, want %s", r.Findings[0].Remedy, want)
	}
	cure(t, dir, nil)
}

// A directory of thousands of instances is looked at with few files open.
func TestNothingStaysOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	d := declaration()
	d.Instances.By = "session_id"
	for _, id := range []string{"a", "b"} {
		check(t, sidecar.CreateInstance(dir, id, d))
	}
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		check(t, err)
		n := 0
		for _, name := range names {
			if to, err := os.Readlink("/proc/self/fd/" + name.Name()); err == nil && strings.HasPrefix(to, dir) {
				n++
			}
		}
		return n
	}
	examine(t, dir, &doctor.Options{Around: true})
	if n := open(); n != 0 {
		t.Errorf("%d files are open still", n)
	}
}
