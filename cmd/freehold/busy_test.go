package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar"
)

// While another process is an exclusive owner's live one, a write ends busy;
// with no patience at once, and never later than it was told to wait.
func TestAHeldLeaseIsBusy(t *testing.T) {
	dir := freshState(t)
	w, err := sidecar.Open(context.Background(), dir, nil, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	start := time.Now()
	for _, args := range [][]string{
		{"set", "watchdog", "patience=1s", "--wait", "0s"},
		{"set", "watchdog", "patience=1s", "--wait", "20ms"},
		{"accept", "watchdog", "--wait", "0s"},
		{"quarantine", "watchdog", "--wait", "0s"},
	} {
		got := call(t, "", append(args, "--dir", dir)...)
		if got.Status != failure.ExitBusy || got.Stdout != "" || !strings.Contains(got.Stderr, "busy") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := must(t, "view", "--dir", dir); !strings.Contains(got, "watchdog") {
		t.Errorf("readers do not wait, but: %s", got)
	}
	w.Close()
	must(t, "set", "watchdog", "patience=1s", "--dir", dir)
}

// An interrupt ends a wait, and ends reading a patch that never comes.
func TestAnInterruptEndsAWait(t *testing.T) {
	dir := freshState(t)
	w, err := sidecar.Open(context.Background(), dir, nil, "watchdog", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	var out, errs strings.Builder
	if status := run(ctx, []string{"set", "watchdog", "patience=1s", "--wait", "1h", "--dir", dir}, nil, &out, &errs); status != failure.ExitBusy {
		t.Errorf("status %d, stderr %s", status, &errs)
	}
	if status := run(ctx, []string{"apply", "reset", "--dir", dir}, never{}, &out, &errs); status != failure.ExitIO || out.Len() > 0 {
		t.Errorf("status %d, stdout %s", status, &out)
	}
}

// never is an input without an end.
type never struct{}

func (never) Read([]byte) (int, error) { select {} }

// A report that cannot be written does not turn a commit into a failure; data
// that cannot be written is one.
func TestALostReportIsNoLostCommit(t *testing.T) {
	dir := freshState(t)
	var errs strings.Builder
	if status := run(context.Background(), []string{"set", "reset", "f=1", "--json", "--dir", dir}, nil, full{}, &errs); status != failure.ExitDone {
		t.Errorf("set: status %d", status)
	}
	if !strings.HasPrefix(errs.String(), "freehold: error: the command has done its work; ") {
		t.Errorf("set: stderr %s", &errs)
	}
	for _, args := range [][]string{{"get", "f"}, {"view"}, {"view", "--json"}, {"explain", "f"}, {"schema"}, {"version"}, {"completion", "bash"}} {
		args := append(args, "--dir", dir)
		if args[0] == "version" || args[0] == "completion" {
			args = args[:len(args)-2]
		}
		if status := run(context.Background(), args, nil, full{}, &errs); status != failure.ExitIO {
			t.Errorf("%q: status %d", args, status)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no space left on device")
