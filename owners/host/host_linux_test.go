package host_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/host"
	"github.com/freehold-dev/freehold/owners/host/hosttest"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

// programs builds hostd and retire and returns their directory.
func programs(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", bin+"/", "./host/cmd/hostd", "./host/cmd/retire")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// A daemon is a hostd that runs.
type daemon struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
}

func start(t *testing.T, bin, dir string, args ...string) *daemon {
	t.Helper()
	d := &daemon{ended: make(chan struct{})}
	d.cmd = exec.Command(bin+"/hostd", append([]string{"-dir", dir, "-beat", "5ms"}, args...)...)
	d.cmd.Stderr = &d.stderr
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { d.cmd.Wait(); close(d.ended) }()
	statetest.Damaged(dir, "lease-gone", "litter") // the litter of a killed host
	t.Cleanup(func() { d.cmd.Process.Kill(); <-d.ended })
	return d
}

// inVain is the longest wait for an event that takes milliseconds on a machine
// that is not busy.
const inVain = 2 * time.Minute

// exits waits for the end of the daemon.
func (d *daemon) exits(t *testing.T, status int) {
	t.Helper()
	select {
	case <-d.ended:
	case <-time.After(inVain):
		t.Fatal("hostd does not end")
	}
	if got := d.cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("hostd exited with %d, want %d: %s", got, status, &d.stderr)
	}
}

func view(t *testing.T, dir string) host.View {
	t.Helper()
	r, err := host.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// awaits waits until the daemon is the host, and returns the view.
func (d *daemon) awaits(t *testing.T, dir string) host.View {
	t.Helper()
	for end := time.Now().Add(inVain); ; time.Sleep(time.Millisecond) {
		v := view(t, dir)
		if by, ok := v.Endpoint().Provenance(); ok && by.PID == d.cmd.Process.Pid {
			return v
		}
		if time.Now().After(end) {
			t.Fatalf("hostd does not become the host: %s", &d.stderr)
		}
	}
}

func ended(t *testing.T, bin, dir string, args ...string) (out string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin+"/retire", append([]string{"-dir", dir}, args...)...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// A call for help or with a mistake retires nobody.
func TestMisuseOfRetireRetiresNobody(t *testing.T) {
	bin, dir := programs(t), hosttest.State(t)
	d := start(t, bin, dir)
	d.awaits(t, dir)
	for arg, want := range map[string]int{"--help": 0, "host": 64, "-nope": 64} {
		if out, status := ended(t, bin, dir, arg); status != want || out == "" {
			t.Errorf("retire %s exited with %d and said %q, want %d", arg, status, out, want)
		}
	}
	if state, err := sidecar.LeaseStatus(dir, "host"); err != nil || state.PID != d.cmd.Process.Pid || len(state.Lease.Retired) != 0 {
		t.Errorf("the lease is %+v (%v)", state, err)
	}
	d.cmd.Process.Signal(syscall.SIGTERM)
	d.exits(t, 0)
}

func TestHostIsRetiredInGoodOrder(t *testing.T) {
	bin, dir := programs(t), hosttest.State(t)
	if out, status := ended(t, bin, dir); status != 9 || !strings.Contains(out, "no holder") {
		t.Errorf("without a host retire exited with %d and said %q", status, out)
	}
	first := start(t, bin, dir)
	v := first.awaits(t, dir)
	endpoint, err := v.Endpoint().Get()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != fmt.Sprintf("host %d\n", first.cmd.Process.Pid) {
		t.Errorf("the endpoint answers %q (%v)", line, err)
	}
	start(t, bin, dir).exits(t, 5) // one host at a time
	second := start(t, bin, dir, "-wait", "1m")
	out, status := ended(t, bin, dir)
	if status != 0 || !strings.Contains(out, ": retired\n") || !strings.Contains(out, "exit_seen") || !strings.Contains(out, "lease_held") {
		t.Errorf("retire exited with %d and said %s", status, out)
	}
	first.exits(t, 0)
	v = second.awaits(t, dir)
	if draining, err := v.Draining().Get(); draining || err != nil {
		t.Errorf("the second host drains: %v (%v)", draining, err)
	}
	if state, err := sidecar.LeaseStatus(dir, "host"); err != nil || state.PID != second.cmd.Process.Pid || len(state.Lease.Retired) != 1 {
		t.Errorf("the lease is %+v (%v)", state, err)
	}
}

// SIGTERM drains: the last commit is in the state, and the lease is free.
func TestHostDrainsOnTerm(t *testing.T) {
	bin, dir := programs(t), hosttest.State(t)
	d := start(t, bin, dir)
	before, err := d.awaits(t, dir).HeartbeatAt().Get()
	if err != nil {
		t.Fatal(err)
	}
	for now := before; !now.After(before); now, _ = view(t, dir).HeartbeatAt().Get() {
		time.Sleep(time.Millisecond)
	}
	d.cmd.Process.Signal(syscall.SIGTERM)
	d.exits(t, 0)
	v := view(t, dir)
	if _, err := v.Endpoint().Get(); !errors.Is(err, reader.ErrUnset) {
		t.Errorf("the endpoint is still there (%v)", err)
	}
	if draining, err := v.Draining().Get(); draining || err != nil {
		t.Errorf("draining: %v (%v)", draining, err)
	}
	if state, err := sidecar.LeaseStatus(dir, "host"); err != nil || state.PID != 0 || state.Lease.Holder != nil || state.Disagreement != "" {
		t.Errorf("the lease is %+v (%v)", state, err)
	}
}

// A host that is stopped is not retired in time, and one that is killed is
// gone.
func TestHostThatDoesNotAnswer(t *testing.T) {
	bin, dir := programs(t), hosttest.State(t)
	d := start(t, bin, dir)
	d.awaits(t, dir)
	d.cmd.Process.Signal(syscall.SIGSTOP)
	if out, status := ended(t, bin, dir, "-grace", "50ms"); status != 5 || !strings.Contains(out, "not-retired") {
		t.Errorf("retire exited with %d and said %s", status, out)
	}
	if out, status := ended(t, bin, dir, "-grace", "50ms", "-kill"); status != 0 || !strings.Contains(out, "kill_sent") {
		t.Errorf("retire exited with %d and said %s", status, out)
	}
	d = start(t, bin, dir)
	d.awaits(t, dir)
	d.cmd.Process.Kill()
	<-d.ended
	if out, status := ended(t, bin, dir); status != 9 || !strings.Contains(out, "process_gone") {
		t.Errorf("retire exited with %d and said %s", status, out)
	}
}

// A host is fenced, and stops, if its lock file was replaced or its state was
// moved away or made anew.
func TestHostStopsWhenItIsFenced(t *testing.T) {
	bin := programs(t)
	for name, fence := range map[string]func(dir string) error{
		"the lock file replaced": func(dir string) error {
			lease := filepath.Join(dir, ".freehold", "host.lease")
			return errors.Join(os.WriteFile(lease+".new", nil, 0o600), os.Rename(lease+".new", lease))
		},
		"the state moved":   func(dir string) error { return os.Rename(dir, dir+".old") },
		"the state deleted": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			dir := hosttest.State(t)
			statetest.Damaged(dir, "lock-lost")
			d := start(t, bin, dir)
			d.awaits(t, dir)
			if err := fence(dir); err != nil {
				t.Fatal(err)
			}
			d.exits(t, 4)
		})
	}
}
