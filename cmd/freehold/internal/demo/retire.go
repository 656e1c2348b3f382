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
	s.tell(title("3  The wrong process",
		"   A frozen daemon is to be ended. It crashes just before, and a supervisor",
		"   starts a successor, which is healthy.")...)
	s.tell(way("Old way", oldRetire)...)
	s.write("daemon.pid", "0")
	s.supervise(ctx, oldDaemon, func(ctx context.Context, pids <-chan int) {
		r.OldWay = s.endOldWay(ctx, pids)
	})
	s.tell(verdict(r.OldWay.Before == r.OldWay.After, r.OldWay.text()))

	s.tell(way("Freehold", newRetire)...)
	s.supervise(ctx, newDaemon, func(ctx context.Context, pids <-chan int) {
		r.Freehold = s.endCrashed(ctx, pids)
		s.judge(r.Freehold.refused(), r.Freehold.text())
		r.Own = s.endOwn(ctx, pids)
		s.judge(r.Own.ended(), r.Own.text())
	})
}

// refused reports whether the command failed because it names another daemon
// than the one that runs, which goes on.
func (e Ending) refused() bool { return e.Status == 6 && e.Before == e.After }

// ended reports whether the command ended exactly the daemon that it names.
func (e Ending) ended() bool { return e.Status == 0 && e.Before == e.Meant && e.After != e.Meant }

func (s *stage) endOldWay(ctx context.Context, pids <-chan int) (e Ending) {
	running := func() int { return s.number(ctx, "cat daemon.pid") }
	e.Meant = s.started(ctx, pids, running)
	e.Before = s.crash(ctx, e.Meant, pids, running)
	_, e.Status = s.ask(ctx, oldRetire)
	e.After = s.started(ctx, pids, running)
	return e
}

func (s *stage) endCrashed(ctx context.Context, pids <-chan int) (e Ending) {
	running := func() int { return s.lease(ctx).Kernel.PID }
	e.Meant = s.started(ctx, pids, running)
	meant := s.lease(ctx)
	e.Before = s.crash(ctx, e.Meant, pids, running)
	e.Status = s.retire(ctx, meant)
	e.After = running()
	return e
}

func (s *stage) endOwn(ctx context.Context, pids <-chan int) (e Ending) {
	own := s.lease(ctx)
	e = Ending{Meant: own.Kernel.PID, Before: own.Kernel.PID, After: own.Kernel.PID}
	if e.Status = s.retire(ctx, own); e.Status == 0 {
		e.After = s.started(ctx, pids, func() int { return s.lease(ctx).Kernel.PID })
	}
	return e
}

// crash kills a daemon and returns its successor.
func (s *stage) crash(ctx context.Context, pid int, pids <-chan int, running func() int) (successor int) {
	s.sh(ctx, "kill -9 $1", strconv.Itoa(pid))
	return s.started(ctx, pids, running)
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
func (s *stage) lease(ctx context.Context) lease {
	l := decode[lease](s, s.sh(ctx, "freehold lease daemon --json"))
	if !l.Agree {
		l.Kernel.PID = 0
	}
	return l
}

func (s *stage) retire(ctx context.Context, l lease) (status int) {
	_, status = s.ask(ctx, "epoch=$1 pid=$2; "+newRetire, l.Epoch.String(), strconv.Itoa(l.Kernel.PID))
	return status
}

// supervise keeps a daemon running while play is at work. pids gets the process
// id of each daemon, when the one before has ended.
func (s *stage) supervise(ctx context.Context, daemon string, play func(ctx context.Context, pids <-chan int)) {
	ctx, stop := context.WithCancelCause(ctx)
	pids, done := make(chan int), make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			cmd := s.command(ctx, daemon)
			if err := cmd.Start(); err != nil {
				stop(err)
				return
			}
			select {
			case pids <- cmd.Process.Pid:
			case <-ctx.Done():
			}
			_ = cmd.Wait() // each daemon is killed, here or by play
		}
	}()
	play(ctx, pids)
	stop(nil)
	<-done
}

// started returns the next daemon of the supervisor, as soon as running names
// the daemon. running starts a process, so that the loop needs no pause.
func (s *stage) started(ctx context.Context, pids <-chan int, running func() int) (pid int) {
	if s.err != nil {
		return 0
	}
	select {
	case pid = <-pids:
	case <-ctx.Done():
		s.fail(context.Cause(ctx))
	}
	for s.err == nil && running() != pid {
	}
	return pid
}
