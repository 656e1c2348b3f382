package retire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

func init() {
	roles["service"] = roleService
	roles["retirer"] = roleRetirer
}

// A service is a supervised holder of a lease, and a process that retires it.
type service struct {
	folder, dir string
	gaveUp      chan struct{} // closed when the supervisor has ended
	said        chan string   // by the process that runs
	retirer     *bufio.Scanner
	tells       io.Writer

	// What the lines said.
	started, opened, terminated map[int]time.Time
	last                        int // the process that started last
}

// newService starts a supervised service, which ends with the test.
func newService(t *testing.T, runsv string) *service {
	t.Helper()
	s := &service{
		folder: t.TempDir(), dir: newState(t), gaveUp: make(chan struct{}), said: make(chan string, 64),
		started: map[int]time.Time{}, opened: map[int]time.Time{}, terminated: map[int]time.Time{},
	}
	statetest.Damaged(s.dir, "lease-stopped") // the supervisor may be between two starts
	script := fmt.Sprintf("#!/bin/sh\n%s=service exec '%s' '%s'\n", role.Variable, os.Args[0], s.dir)
	if err := os.WriteFile(filepath.Join(s.folder, "run"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	supervisor := exec.Command(runsv, s.folder)
	supervisor.Stderr = os.Stderr
	supervisor.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := supervisor.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.said <- lines.Text()
		}
		close(s.said)
	}()
	go func() { supervisor.Wait(); close(s.gaveUp) }()
	t.Cleanup(func() { supervisor.Process.Kill(); <-s.gaveUp }) // and the service dies with it
	s.hire(t)
	return s
}

// hire starts the process that retires.
func (s *service) hire(t *testing.T) {
	t.Helper()
	cmd := role.Process(t, "retirer", s.dir)
	var err error
	if s.tells, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	s.retirer = bufio.NewScanner(out)
}

// patience bounds what takes a second at most on a machine that is not loaded.
const patience = time.Minute

// until folds what the service says until ok.
func (s *service) until(what string, ok func() bool) error {
	late := time.After(patience)
	for !ok() {
		select {
		case line, more := <-s.said:
			if !more {
				return fmt.Errorf("%s: waiting until %s: the supervisor has ended", s.folder, what)
			}
			if err := s.note(line); err != nil {
				return err
			}
		case <-late:
			return fmt.Errorf("%s: waited in vain until %s", s.folder, what)
		}
	}
	return nil
}

func (s *service) note(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(rest)
	noted := map[string]map[int]time.Time{"started": s.started, "opened": s.opened, "terminated": s.terminated}[verb]
	if err != nil || noted == nil {
		return fmt.Errorf("%s: the service said %q", s.folder, line)
	}
	noted[pid] = time.Now()
	if verb == "started" { // whoever had the number before is forgotten
		s.last = pid
		delete(s.opened, pid)
		delete(s.terminated, pid)
	}
	return nil
}

// up waits until the service holds its lease and returns its process. The
// supervisor restarts at once what was up for a second.
func (s *service) up() (int, error) {
	err := s.until("the service is up", func() bool { return s.last != 0 && !s.opened[s.last].IsZero() })
	if err == nil {
		time.Sleep(time.Until(s.started[s.last].Add(1020 * time.Millisecond)))
	}
	return s.last, err
}

// die kills the service's process and waits until a successor has started.
func (s *service) die() error {
	before := s.last
	if err := unix.Kill(before, unix.SIGKILL); err != nil {
		return fmt.Errorf("%s: kill %d: %w", s.folder, before, err)
	}
	return s.until("a successor has started", func() bool { return s.last != before })
}

// goesOn waits until the service's process holds the lease and has committed,
// and reports whether it was hit.
func (s *service) goesOn() (hit bool, err error) {
	pid := s.last
	if err := s.until("the successor has the lease", func() bool { return !s.opened[pid].IsZero() }); err != nil {
		return false, err
	}
	s.opened[pid] = time.Time{}
	if err := unix.Kill(pid, unix.SIGUSR1); err != nil {
		return false, fmt.Errorf("%s: the successor %d does not run: %w", s.folder, pid, err)
	}
	if err := s.until("the successor commits", func() bool { return !s.opened[pid].IsZero() }); err != nil {
		return false, err
	}
	state, err := sidecar.LeaseStatus(s.dir, "watchdog")
	if err != nil || s.last != pid || state.PID != pid || state.Disagreement != "" {
		return false, fmt.Errorf("%s: %d and not the successor %d holds the lease: %s (%v)", s.folder, state.PID, pid, state.Disagreement, err)
	}
	return !s.terminated[pid].IsZero(), nil
}

// roleService holds watchdog's lease, commits on SIGUSR1, survives SIGTERM and
// tells of each.
func roleService(args []string) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	say := func(what string) { fmt.Println(what, os.Getpid()) }
	terms, beats := make(chan os.Signal, 8), make(chan os.Signal, 8)
	ossignal.Notify(terms, syscall.SIGTERM)
	ossignal.Notify(beats, syscall.SIGUSR1)
	go func() {
		for range terms {
			say("terminated")
		}
	}()
	say("started")
	w, err := sidecar.Open(context.Background(), args[0], nil, "watchdog", &sidecar.Options{Program: "service"})
	if err != nil {
		return err
	}
	for {
		if _, err := (beating{w}).Beat(); err != nil {
			return err
		}
		say("opened")
		<-beats
	}
}

// roleRetirer prepares and retires watchdog's process, stopping where it is
// told to.
func roleRetirer(args []string) error {
	var p *Prepared
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		switch verb {
		case "prepare":
			var err error
			if p, err = Prepare(args[0], "watchdog"); err != nil {
				return err
			}
			fmt.Println("prepared", p.Holder.Identity.PID)
		case "stop":
			steps := strings.Fields(rest)
			failpoint.Set(func(step string) {
				if slices.Contains(steps, step) {
					fmt.Println("at", step)
					in.Scan()
				}
			})
			fmt.Println("ready")
		case "retire":
			r, err := p.Run(context.Background(), &Options{Grace: patience})
			a := answer{Said: r.Outcome.String(), Proofs: codes(r)}
			switch {
			case errors.Is(err, store.IdentityChanged):
				a.Said = store.IdentityChanged.Error()
			case err != nil:
				a.Said, a.Error = "error", err.Error()
			}
			text, err := json.Marshal(a)
			if err != nil {
				return err
			}
			fmt.Println(string(text))
		}
	}
	return in.Err()
}
