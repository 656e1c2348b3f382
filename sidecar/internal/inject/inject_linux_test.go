//go:build amd64 || arm64

package inject_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/inject"
	"github.com/google/go-cmp/cmp"
)

// targetVariable makes the test binary run one of targets instead of the tests.
const targetVariable = "INJECT_TEST_TARGET"

func TestMain(m *testing.M) {
	inject.Main()
	if target, ok := targets[os.Getenv(targetVariable)]; ok {
		inject.Begin()
		err := target(os.Args[1])
		inject.End()
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// targets work on a file that holds oldText.
var targets = map[string]func(file string) error{
	"truncate": func(file string) error { return os.WriteFile(file, []byte(newText), 0o600) },
	"rename":   renameWriter,
	"threads":  threads,
	"child": func(file string) error {
		return exec.Command("/bin/sh", "-c", `: >"$1"`, "sh", file+".child").Run()
	},
	"retry": func(file string) error {
		var err error
		for range 3 {
			if err = os.Mkdir(file+".dir", 0o700); err == nil {
				return nil
			}
		}
		return err
	},
	"signals": signals,
	"timers":  timers,
	"sleep":   func(string) error { time.Sleep(time.Minute); return nil },
}

const (
	oldText = "old, whole\n"
	newText = "new, and whole too\n"
)

func renameWriter(file string) error {
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	temp, err := os.OpenFile(file+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = temp.WriteString(newText)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(file+".tmp", file); err != nil {
		return err
	}
	return dir.Sync()
}

// threads makes 8 times 10 calls on as many threads.
func threads(file string) error {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			runtime.LockOSThread()
			for j := range 10 {
				syscall.Mkdir(fmt.Sprintf("%s.%d.%d", file, i, j), 0o700)
			}
		})
	}
	group.Wait()
	return nil
}

// signals makes 10 calls while another thread keeps interrupting this one, as Go's preemption does now and then.
func signals(file string) error {
	runtime.LockOSThread()
	thread, stop := syscall.Gettid(), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				syscall.Tgkill(os.Getpid(), thread, syscall.SIGURG)
			}
		}
	})
	for i := range 10 {
		syscall.Mkdir(fmt.Sprintf("%s.%d", file, i), 0o700)
	}
	close(stop)
	group.Wait()
	return nil
}

// timers makes the runtime wake the thread that waits for the next timer, which it does by writing to an eventfd.
func timers(string) error {
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	defer in.Close()
	go in.Read(make([]byte, 1))
	for range 20 {
		time.Sleep(time.Millisecond)
		time.AfterFunc(100*time.Microsecond, func() {})
	}
	return nil
}

// target returns the command and its file, fresh.
func target(t testing.TB, name string) (inject.Command, string) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(file, []byte(oldText), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return inject.Command{Path: self, Args: []string{file}, Env: append(os.Environ(), targetVariable+"="+name)}, file
}

func run(t testing.TB, c inject.Command, p inject.Plan) inject.Result {
	t.Helper()
	result, err := inject.Run(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// killAtEvery runs the writer with a kill at every call and returns the points where the file was neither old nor new.
func killAtEvery(t *testing.T, writer string, action inject.Action) (torn []string) {
	var file string
	prepare := func(int) (command inject.Command, plan inject.Plan) {
		command, file = target(t, writer)
		return command, inject.Plan{Marked: true, Action: action}
	}
	for k, result := range inject.EveryCall(t, prepare) {
		got := read(t, file)
		if got != oldText && got != newText {
			torn = append(torn, result.String())
		}
		if result.Killed != (result.Hit != nil) {
			t.Errorf("run %d: %v, killed: %v", k, result, result.Killed)
		}
		if result.Hit == nil && got != newText {
			t.Errorf("the run without a kill left %q", got)
		}
	}
	return torn
}

func TestKillsCatchAWriterThatTruncatesInPlace(t *testing.T) {
	t.Parallel()
	for action, last := range map[inject.Action]string{
		inject.KillBefore: "killed before #6 write(state.json)",
		inject.KillAfter:  "killed after #5 fcntl(state.json)",
	} {
		torn := killAtEvery(t, "truncate", action)
		if len(torn) == 0 || torn[len(torn)-1] != last {
			t.Errorf("torn when %q, want the last to be %q", torn, last)
		}
	}
}

func TestKillsFindNothingInAWriterThatRenames(t *testing.T) {
	t.Parallel()
	for _, action := range []inject.Action{inject.KillBefore, inject.KillAfter} {
		if torn := killAtEvery(t, "rename", action); len(torn) > 0 {
			t.Errorf("torn when %q", torn)
		}
	}
}

func TestKillBeforeDoesNotExecuteTheCallAndKillAfterDoes(t *testing.T) {
	t.Parallel()
	for action, want := range map[inject.Action]string{inject.KillBefore: oldText, inject.KillAfter: newText} {
		command, file := target(t, "rename")
		result := run(t, command, inject.Plan{Calls: []string{"renameat"}, Marked: true, At: 1, Action: action})
		if got := read(t, file); got != want || !result.Killed || result.State.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%v: %v, file %q, want %q", result, result.State, got, want)
		}
	}
}

func TestTargetSeesTheErrnoAtEveryCall(t *testing.T) {
	t.Parallel()
	var file string
	prepare := func(int) (command inject.Command, plan inject.Plan) {
		command, file = target(t, "rename")
		notFcntl := func(c inject.Call) bool { return c.Name != "fcntl" } // os.OpenFile does not mind its failures
		return command, inject.Plan{Marked: true, Action: inject.Fail, Errno: syscall.EDQUOT, Only: notFcntl}
	}
	failures := make(map[string]bool)
	for _, result := range inject.EveryCall(t, prepare) {
		if got := read(t, file); got != oldText && got != newText {
			t.Errorf("%v: file %q", result, got)
		}
		if result.Hit != nil && result.State.ExitCode() == 3 && strings.Contains(string(result.Stdout), "quota exceeded") {
			failures[result.Hit.Name] = true
		}
	}
	want := map[string]bool{"openat": true, "write": true, "fsync": true, "close": true, "renameat": true}
	if diff := cmp.Diff(want, failures); diff != "" {
		t.Errorf("calls whose errno was reported (-want +got):\n%s", diff)
	}
}

func TestTransientFaultHitsOneCallAndPersistentAllFromThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		persistent  bool
		calls, exit int
	}{{false, 2, 0}, {true, 3, 3}} {
		command, _ := target(t, "retry")
		plan := inject.Plan{Calls: []string{"mkdirat"}, Marked: true, At: 1, Action: inject.Fail, Errno: syscall.EIO, Persistent: c.persistent}
		result := run(t, command, plan)
		if len(result.Calls) != c.calls || result.State.ExitCode() != c.exit {
			t.Errorf("persistent %v: %v, calls %v, want %d and exit status %d", c.persistent, result.State, result.Calls, c.calls, c.exit)
		}
	}
}

func TestErrnoZeroClaimsSuccess(t *testing.T) {
	t.Parallel()
	command, file := target(t, "rename")
	result := run(t, command, inject.Plan{Calls: []string{"renameat"}, Marked: true, At: 1, Action: inject.Fail})
	if got := read(t, file); got != oldText || !result.State.Success() {
		t.Errorf("%v: %v, file %q, want success and the old text", result, result.State, got)
	}
}

func TestDelayHoldsTheCall(t *testing.T) {
	t.Parallel()
	const delay = 100 * time.Millisecond
	command, file := target(t, "rename")
	start := time.Now()
	result := run(t, command, inject.Plan{Calls: []string{"fsync"}, Marked: true, At: 1, Action: inject.Delay, Delay: delay, Persistent: true})
	if took := time.Since(start); took < 2*delay || read(t, file) != newText {
		t.Errorf("%v took %v, want both fsyncs held for %v", result, took, delay)
	}
}

func TestCountIsTheSameInEveryRun(t *testing.T) {
	t.Parallel()
	command, file := target(t, "rename")
	var first []string
	for range 5 {
		var calls []string
		for _, call := range run(t, command, inject.Plan{Marked: true}).Calls {
			calls = append(calls, call.String())
		}
		if first == nil {
			first = calls
		}
		if diff := cmp.Diff(first, calls); diff != "" {
			t.Errorf("calls of two runs (-first +this):\n%s", diff)
		}
	}
	if want := "#15 renameat(state.json.tmp -> state.json)"; len(first) != 17 || first[14] != want {
		t.Errorf("calls %q, want 17 with %q", first, want)
	}
	call := run(t, command, inject.Plan{Marked: true, Calls: []string{"renameat"}}).Calls[0]
	if diff := cmp.Diff([]string{file + ".tmp", file}, call.Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestOneCounterForAllThreads(t *testing.T) {
	t.Parallel()
	command, file := target(t, "threads")
	plan := inject.Plan{Calls: []string{"mkdirat"}, Marked: true, At: 38, Action: inject.Fail, Errno: syscall.EIO, Persistent: true}
	result := run(t, command, plan)
	made, err := filepath.Glob(file + ".*.*")
	if err != nil {
		t.Fatal(err)
	}
	threads := make(map[int]bool)
	for i, call := range result.Calls {
		threads[call.PID] = true
		if call.N != i+1 {
			t.Errorf("call %d has number %d", i+1, call.N)
		}
	}
	if len(made) != 37 || len(result.Calls) != 80 || len(threads) != 8 {
		t.Errorf("%d directories, %d calls, %d threads; want 37, 80, 8", len(made), len(result.Calls), len(threads))
	}
}

func TestSignalsDoNotRepeatCounts(t *testing.T) {
	t.Parallel()
	command, _ := target(t, "signals")
	long := inject.Plan{Calls: []string{"mkdirat"}, Marked: true, At: 1, Action: inject.Delay, Delay: 2 * time.Millisecond, Persistent: true}
	if n := len(run(t, command, long).Calls); n != 10 {
		t.Errorf("%d calls counted, want 10", n)
	}
}

func TestRuntimeWakingItselfIsNotCounted(t *testing.T) {
	t.Parallel()
	command, _ := target(t, "timers")
	if calls := run(t, command, inject.Plan{Calls: []string{"write"}, Marked: true}).Calls; len(calls) > 0 {
		t.Errorf("counted %v, want nothing", calls)
	}
}

func TestChildrenAreCounted(t *testing.T) {
	t.Parallel()
	command, file := target(t, "child")
	ofChild := func(c inject.Call) bool { return c.Paths[0] == file+".child" && strings.HasPrefix(c.Name, "open") }
	result := run(t, command, inject.Plan{Marked: true, Only: ofChild, At: 1, Action: inject.KillBefore})
	if _, err := os.Stat(file + ".child"); result.Hit == nil || !result.Killed || !os.IsNotExist(err) {
		t.Errorf("%v: killed: %v, stat: %v", result, result.Killed, err)
	}
}

func TestAnyProgramIsCountedFromItsStartWithoutMarks(t *testing.T) {
	t.Parallel()
	_, file := target(t, "")
	command := inject.Command{Path: "cat", Dir: filepath.Dir(file), Args: []string{filepath.Base(file), "-"}, Stdin: strings.NewReader("in")}
	result := run(t, command, inject.Plan{})
	if got := string(result.Stdout); got != oldText+"in" || !result.State.Success() {
		t.Errorf("%v, stdout %q, stderr %q", result.State, got, result.Stderr)
	}
	opened := slices.ContainsFunc(result.Calls, func(c inject.Call) bool { return c.Name == "openat" && c.Paths[0] == "state.json" })
	if !opened || result.Calls[0].N != 1 {
		t.Errorf("no open of state.json in %v", result.Calls)
	}
}

func TestRunsThatProveNothingAreErrors(t *testing.T) {
	t.Parallel()
	sleep, file := target(t, "sleep")
	sleep.Timeout = 300 * time.Millisecond
	script := file + ".script"
	if err := os.WriteFile(script, []byte("not a program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command inject.Command
		plan    inject.Plan
		want    string
	}{
		"hangs":        {sleep, inject.Plan{Marked: true}, "deadline exceeded"},
		"never begins": {inject.Command{Path: "true"}, inject.Plan{Marked: true}, "without calling inject.Begin"},
		"missing":      {inject.Command{Path: "no-such-program"}, inject.Plan{}, "not found"},
		"no program":   {inject.Command{Path: script}, inject.Plan{}, "exec format error"},
		"unknown call": {sleep, inject.Plan{Calls: []string{"fsink"}}, `"fsink" is not in the table`},
	} {
		start := time.Now()
		_, err := inject.Run(t.Context(), c.command, c.plan)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	count := func() (fds, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	command, file := target(t, "rename")
	fds, goroutines := count()
	const script = `sleep 60 & echo $! >"$0"; while read name </proc/$!/comm && test $name != sleep; do :; done`
	lasting := inject.Command{Path: "sh", Args: []string{"-c", script, file + ".pid"}}
	for range 5 {
		run(t, command, inject.Plan{Marked: true, At: 3, Action: inject.KillBefore})
		run(t, command, inject.Plan{Marked: true, At: 3, Action: inject.Delay, Delay: time.Millisecond})
		run(t, lasting, inject.Plan{Calls: []string{"syncfs"}})
		inject.Run(t.Context(), inject.Command{Path: "true"}, inject.Plan{Marked: true})
	}
	for deadline := time.Now().Add(2 * time.Second); ; runtime.Gosched() { // a goroutine is counted until it is off its stack
		f, g := count()
		if f <= fds && g <= goroutines {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("descriptors %d, before %d; goroutines %d, before %d", f, fds, g, goroutines)
		}
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("wait4: %v, want no children", err)
	}
	var pid int
	fmt.Sscan(read(t, file+".pid"), &pid)
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("the command's child still runs: %s", stat)
	}
}

func TestWorksWithoutPrivileges(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("all the other tests run without privileges already")
	}
	command, _ := target(t, "")
	dir, err := os.MkdirTemp("", "inject") // not t.TempDir: its parent is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary, err := os.ReadFile(command.Path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "test")
	if err := errors.Join(os.WriteFile(name, binary, 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, "-test.v", "-test.run=^TestKillsFindNothing|^TestTargetSees")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func BenchmarkRun(b *testing.B) {
	command, _ := target(b, "rename")
	for b.Loop() {
		run(b, command, inject.Plan{Marked: true})
	}
}
