package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// ownLease makes a state and holds its watchdog's lease.
func ownLease(t *testing.T) (dir string, w *sidecar.Writer) {
	t.Helper()
	dir = t.TempDir() + "/state"
	d := &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"watchdog": {Mode: schema.Exclusive, Fields: map[string]schema.Field{"reason": {Type: schema.TypeString}}},
	}}
	if err := sidecar.Create(dir, d); err != nil {
		t.Fatal(err)
	}
	w, err := sidecar.Open(t.Context(), dir, d, "watchdog", &sidecar.Options{Program: "own"})
	if err != nil {
		t.Fatal(err)
	}
	return dir, w
}

// A program that holds a lease by itself is not disturbed.
func TestHandoffOfAProgramThatCannotBeAsked(t *testing.T) {
	dir, w := ownLease(t)
	defer w.Close()
	got := call(t, "", "handoff", "watchdog", "--dir", dir, "--to", fmt.Sprint(os.Getppid()))
	want := fmt.Sprintf(`process %d, program "own", holds the lease and does not answer`, os.Getpid())
	if got.Status != exitBusy || got.Stdout != "" || !strings.Contains(got.Stderr, want) {
		t.Errorf("got %+v, want status %d and %q", got, exitBusy, want)
	}
	if _, err := w.Update(t.Context(), func(*sidecar.Tx) error { return nil }); err != nil {
		t.Errorf("the holder is disturbed: %v", err)
	}
}

// A holder in a place that cannot be seen from here is not said to be gone.
func TestHandoffByAHolderThatCannotBeSeen(t *testing.T) {
	dir, w := ownLease(t)
	record := dir + "/.freehold/watchdog.lease.json"
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	elsewhere := regexp.MustCompile(`"pid_ns": \d+`).ReplaceAll(text, []byte(`"pid_ns": 1`))
	if err := os.WriteFile(record, elsewhere, 0o600); err != nil {
		t.Fatal(err)
	}
	got := call(t, "", "handoff", "watchdog", "--dir", dir, "--to", fmt.Sprint(os.Getppid()))
	if got.Status != exitIdentity || got.Stdout != "" || !strings.Contains(got.Stderr, "another PID namespace") {
		t.Errorf("got %+v, want status %d", got, exitIdentity)
	}
}

// Who does not wait for the answer is not told that there is nobody to ask.
func TestHandoffThatIsInterrupted(t *testing.T) {
	holder := sidecar.Holder{Identity: store.Self()}
	listener, err := net.Listen("unix", handoffAddress("watchdog", holder.Identity))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := listener.Accept(); err == nil {
			defer conn.Close()
			cancel()
			<-t.Context().Done()
		}
	}()
	err = requestHandoff(ctx, "watchdog", holder, store.Identity{PID: 1}, time.Minute)
	if !errors.Is(err, sidecar.ErrDeadline) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "may do so yet") {
		t.Errorf("got %v", err)
	}
}

// Who is told that the successor did not come finds the lease free.
func TestHandoffIsAnsweredWhenTheLeaseIsFree(t *testing.T) {
	dir, w := ownLease(t)
	w.Close()
	idle := exec.Command("sleep", "600")
	if err := idle.Start(); err != nil {
		t.Fatal(err)
	}
	defer idle.Wait()
	defer idle.Process.Kill()
	grace := 50 * time.Millisecond
	for round := 0; round < 16; {
		over := make(chan result, 1)
		go func() { over <- call(t, "", "lease", "watchdog", "--dir", dir, "--", "sleep", "600") }()
		var got result
		answered := func() bool { return strings.Contains(got.Stderr, "did not take the lease") }
		for len(over) == 0 && !answered() { // until the holder can be asked
			got = call(t, "", "handoff", "watchdog", "--dir", dir, "--to", fmt.Sprint(idle.Process.Pid), "--grace", grace.String())
		}
		if !answered() && grace < time.Minute { // on a busy machine the command ends, but late
			<-over
			grace *= 2
			continue
		}
		state, err := sidecar.LeaseStatus(dir, "watchdog")
		if err != nil || state.PID != 0 || got.Status != exitBusy {
			t.Errorf("after %+v: process %d holds the lease (%v)", got, state.PID, err)
		}
		<-over
		round++
	}
}

// A request of any length takes no more than its share.
func TestHandoffReadsNoEndlessRequest(t *testing.T) {
	_, stop, err := receiveHandoffs("endless")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	conn, err := net.Dial("unix", handoffAddress("endless", store.Self()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const most = 16 << 20
	spaces, sent := bytes.Repeat([]byte(" "), mostSaid), 0
	for err == nil && sent < most {
		var n int
		n, err = conn.Write(spaces)
		sent += n
	}
	if sent >= most {
		t.Errorf("%d bytes were taken of a request that has none but spaces", sent)
	}
}
