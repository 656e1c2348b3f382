package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// programs count their runs at the same time, each one runsEach times.
var programs = []string{"prompt", "tool", "stop", "cost", "memory", "notify", "sync", "title", "index", "tick"}

const runsEach = 20

// oldRun and newRun add 1 to the count of the program $me. oldRun is written with
// care: no reader ever sees half a file.
const (
	oldRun = `awk '$1 == k { $2 = $2 + 1 "," } 1' k="\"$me\":" runtime.json \
  >$me.tmp && mv $me.tmp runtime.json`
	newRun = `freehold add $me ${me}_runs 1`
)

// Updates holds the measurements of the first scene.
type Updates struct {
	OldWay   Tally `json:"old_way"`
	Freehold Tally `json:"freehold"`
}

// A Tally compares the runs that ended with status 0 with the runs on record.
type Tally struct {
	Started      int `json:"started"`
	Acknowledged int `json:"acknowledged"`
	Recorded     int `json:"recorded"`
	Lost         int `json:"lost"`
}

func playUpdates(ctx context.Context, s *stage, r *Report) {
	old, now := &r.Updates.OldWay, &r.Updates.Freehold
	s.tell(title("1  Lost updates",
		fmt.Sprintf("   %d programs count their runs at the same time, %d runs each.", len(programs), runsEach))...)
	s.write("runtime.json", runtimeFile())
	s.tell(way("Old way", oldRun)...)
	old.Started, old.Acknowledged = s.race(ctx, programs, oldRun)
	old.count(recorded(decode[map[string]any](s, s.sh(ctx, "cat runtime.json")), ""))
	s.tell(verdict(old.kept(), old.text()))
	s.tell(way("Freehold", newRun)...)
	now.Started, now.Acknowledged = s.race(ctx, programs, newRun)
	view := decode[struct {
		Fields map[string]any `json:"fields"`
	}](s, s.sh(ctx, "freehold view --json"))
	now.count(recorded(view.Fields, "_runs"))
	s.judge(now.kept(), now.text())
}

func (t *Tally) count(recorded int) {
	t.Recorded, t.Lost = recorded, t.Acknowledged-recorded
}

// kept reports whether every run was acknowledged and is on record.
func (t *Tally) kept() bool { return t.Acknowledged == t.Started && t.Lost == 0 }

// race starts a process for each program. It returns how many runs there were,
// and how many of them ended with status 0.
func (s *stage) race(ctx context.Context, programs []string, run string) (started, acknowledged int) {
	const loop = `me=$1 i=0 n=0; while [ $i -lt $2 ]; do i=$((i+1)); %s && n=$((n+1)); done >/dev/null; echo $n`
	if s.err != nil {
		return 0, 0
	}
	script := fmt.Sprintf(loop, run)
	counts, errs := make([]string, len(programs)), make([]error, len(programs))
	var all sync.WaitGroup
	for i, program := range programs {
		all.Go(func() { counts[i], errs[i] = s.output(ctx, script, program, strconv.Itoa(runsEach)) })
	}
	all.Wait()
	s.fail(errors.Join(errs...))
	for _, n := range counts {
		acknowledged += s.parse(n)
	}
	return len(programs) * runsEach, acknowledged
}

// runtimeFile returns the shared file of the old way, with a line for each
// program.
func runtimeFile() string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, p := range programs {
		fmt.Fprintf(&b, "%q: 0,\n", p)
	}
	b.WriteString("\"state\": \"shared\"\n}\n")
	return b.String()
}

// recorded adds up the members that are named program+suffix.
func recorded(members map[string]any, suffix string) (sum int) {
	for _, program := range programs {
		n, _ := members[program+suffix].(float64)
		sum += int(n)
	}
	return sum
}

// decode decodes JSON, unless s has failed.
func decode[T any](s *stage, text string) (v T) {
	if s.err == nil {
		s.fail(json.Unmarshal([]byte(text), &v))
	}
	return v
}
