package demo

import (
	"context"
	"encoding/json"
	"strconv"
)

// A supervisor starts a daemon anew whenever the daemon ends.
const (
	oldDaemon = `echo $$ >pid.tmp && mv pid.tmp daemon.pid && exec sleep 60`
	newDaemon = `exec freehold lease daemon -- sleep 60`
	oldRetire = `kill $(cat daemon.pid)`
	newRetire = `freehold retire daemon --epoch $epoch --pid $pid`
)

// Retire holds the measurements of the third scene: a daemon is to be ended and
// crashes first, so that a supervisor starts a successor. In OldWay and Freehold
// the crashed daemon was to be ended, in Own the successor itself.
type Retire struct {
	OldWay   Ending `json:"old_way"`
	Freehold Ending `json:"freehold"`
	Own      Ending `json:"own"`
}

// An Ending tells what became of daemons, by their process ids.
type Ending struct {
	// Meant was to be ended, Before ran when the command began, and After when
	// all was over. Status is the exit status of the command.
	Meant  int `json:"meant"`
	Before int `json:"before"`
	After  int `json:"after"`
	Status int `json:"status"`
}

func playRetire(ctx context.Context, s *stage, report *Report) {
	r := &report.Retire
	s.tell(tellRetire()...)
	s.tell(way("Old way", oldRetire)...)
	s.write("daemon.pid", "0")
	s.supervise(ctx, oldDaemon, func(ctx context.Context, turns <-chan int) {
		r.OldWay = s.endOldWay(ctx, turns)
	})
	s.tell(verdict(r.OldWay.Before == r.OldWay.After, r.OldWay.text()))

	s.tell(way("Freehold", newRetire)...)
	s.supervise(ctx, newDaemon, func(ctx context.Context, turns <-chan int) {
		r.Freehold = s.endCrashed(ctx, turns)
		s.judge(r.Freehold.refused(), r.Freehold.text())
		r.Own = s.endOwn(ctx, turns)
		s.judge(r.Own.ended(), r.Own.text())
	})
}

// refused reports whether the command failed because it names another daemon
// than the one that runs, which goes on.
func (e Ending) refused() bool { return e.Status == 6 && e.Before == e.After }

// ended reports whether the command ended exactly the daemon that it names.
func (e Ending) ended() bool { return e.Status == 0 && e.Before == e.Meant && e.After != e.Meant }

func (s *stage) endOldWay(ctx context.Context, turns <-chan int) (e Ending) {
	running := func() int { return s.number(ctx, "cat daemon.pid") }
	e.Meant = s.started(ctx, turns, running)
	e.Before = s.crash(ctx, e.Meant, turns, running)
	_, e.Status = s.ask(ctx, oldRetire)
	s.next(ctx, turns)
	e.After = s.started(ctx, turns, running)
	return e
}

func (s *stage) endCrashed(ctx context.Context, turns <-chan int) (e Ending) {
	running := func() int { return s.lease(ctx).Kernel.PID }
	e.Meant = s.started(ctx, turns, running)
	meant := s.lease(ctx)
	e.Before = s.crash(ctx, e.Meant, turns, running)
	e.Status = s.retire(ctx, meant)
	e.After = s.lease(ctx).Kernel.PID
	return e
}

func (s *stage) endOwn(ctx context.Context, turns <-chan int) (e Ending) {
	own := s.lease(ctx)
	e = Ending{Meant: own.Kernel.PID, Before: own.Kernel.PID, After: own.Kernel.PID}
	if e.Status = s.retire(ctx, own); e.Status == 0 {
		e.Before = s.next(ctx, turns)
		e.After = s.started(ctx, turns, func() int { return s.lease(ctx).Kernel.PID })
	}
	return e
}

// crash kills a daemon and returns its successor.
func (s *stage) crash(ctx context.Context, pid int, turns <-chan int, running func() int) (successor int) {
	s.sh(ctx, "kill -9 $1", strconv.Itoa(pid))
	s.next(ctx, turns)
	return s.started(ctx, turns, running)
}

// A lease is the part of `freehold lease --json` that retire needs.
type lease struct {
	Epoch  json.Number `json:"epoch"`
	Kernel struct {
		PID int `json:"pid"`
	} `json:"kernel"`
	Agree bool `json:"agree"`
}

// lease returns the lease; the process is 0 until its epoch is on record.
func (s *stage) lease(ctx context.Context) (l lease) {
	s.decode(s.sh(ctx, "freehold lease daemon --json"), &l)
	if !l.Agree {
		l.Kernel.PID = 0
	}
	return l
}

func (s *stage) retire(ctx context.Context, l lease) (status int) {
	_, status = s.ask(ctx, "epoch=$1 pid=$2; "+newRetire, l.Epoch.String(), strconv.Itoa(l.Kernel.PID))
	return status
}

// supervise keeps a daemon running while play is at work. turns gets the process
// id of each daemon twice: when the daemon has started and when it has ended.
func (s *stage) supervise(ctx context.Context, daemon string, play func(ctx context.Context, turns <-chan int)) {
	ctx, stop := context.WithCancelCause(ctx)
	turns, done := make(chan int), make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := s.runDaemon(ctx, daemon, turns); err != nil {
				stop(err)
			}
		}
	}()
	play(ctx, turns)
	stop(nil)
	<-done
}

func (s *stage) runDaemon(ctx context.Context, daemon string, turns chan<- int) error {
	cmd := s.command(ctx, daemon)
	if err := cmd.Start(); err != nil {
		return err
	}
	tell := func() {
		select {
		case turns <- cmd.Process.Pid:
		case <-ctx.Done():
		}
	}
	tell()
	_ = cmd.Wait() // how a daemon ends is no matter here
	tell()
	return nil
}

// next returns the process of the supervisor's next turn.
func (s *stage) next(ctx context.Context, turns <-chan int) (pid int) {
	if s.err != nil {
		return 0
	}
	select {
	case pid = <-turns:
	case <-ctx.Done():
		s.fail(context.Cause(ctx))
	}
	return pid
}

// started returns the daemon that the supervisor has started, as soon as running
// names it. running starts a process, so that the loop needs no pause.
func (s *stage) started(ctx context.Context, turns <-chan int, running func() int) (pid int) {
	pid = s.next(ctx, turns)
	for s.err == nil && running() != pid {
	}
	return pid
}
