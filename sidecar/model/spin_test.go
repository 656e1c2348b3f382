package model

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

// A run is one check of a model.
type run struct {
	file    string
	defines string // such as "KILLS=0 MUTANT_NO_EPOCH_CHECK"
}

func (r run) String() string { return r.file + " " + r.defines }

// A result is what pan found.
type result struct {
	states  int
	broken  string          // the law that does not hold, or ""
	unmoved map[string]bool // the steps that were never taken
}

// neverEnds is the law that pan states where nobody can go on.
const neverEnds = "invalid end state"

// need skips the test if the programs that it needs are not there.
func need(t *testing.T) {
	t.Helper()
	for _, program := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%v: on Debian, apt-get install %s", err, program)
		}
	}
}

// An effort is how pan is made and run. What it finds is the same.
type effort struct{ compiler, table string }

var (
	brief    = effort{"-O0", "-w18"}            // few states
	thorough = effort{"-Og", "-w22"}            // millions: more optimizing takes longer than it saves
	frugal   = effort{"-O2 -DCOLLAPSE", "-w26"} // more: slower, in half the memory
)

// check runs spin on a model, and what it makes of it, in a directory of its
// own.
func check(t *testing.T, r run, e effort) result {
	t.Helper()
	model, err := filepath.Abs(r.file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command(t, dir, "spin", append(defines(r), "-a", model)...)
	command(t, dir, "gcc", append(strings.Fields(e.compiler), "-w", "-DSAFETY", "-o", "pan", "pan.c")...)
	return parse(t, command(t, dir, "./pan", "-m100000", e.table))
}

func defines(r run) (args []string) {
	for _, define := range strings.Fields(r.defines) {
		args = append(args, "-D"+define)
	}
	return args
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

var (
	statesLine = regexp.MustCompile(`(?m)^ *([0-9.e+]+) states, stored`)
	errorsLine = regexp.MustCompile(`(?m)errors: ([0-9]+)$`)
	brokenLine = regexp.MustCompile(`(?m)^pan:1: (?:assertion violated )?(.*) \(at depth [0-9]+\)$`)
	// Whatever keeps pan from looking at every state.
	partial = regexp.MustCompile(`max search depth too small|out of memory|MEMLIM`)
)

func parse(t *testing.T, out string) result {
	t.Helper()
	if line := partial.FindString(out); line != "" {
		t.Fatalf("pan did not look at every state: %s\n%s", line, out)
	}
	states, errors := statesLine.FindStringSubmatch(out), errorsLine.FindStringSubmatch(out)
	if states == nil || errors == nil {
		t.Fatalf("pan's report is not as expected:\n%s", out)
	}
	count, err := strconv.ParseFloat(states[1], 64) // 1.2e+08, if large
	if err != nil {
		t.Fatal(err)
	}
	r := result{states: int(count), unmoved: unmoved(out)}
	broken := brokenLine.FindStringSubmatch(out)
	if (errors[1] == "0") != (broken == nil) {
		t.Fatalf("pan contradicts itself:\n%s", out)
	}
	if broken != nil {
		r.broken = broken[1]
	}
	return r
}

// unmoved returns the steps that pan lists as unreached, as
// `Proctype lease.pml:88, state 12, "step"`.
func unmoved(out string) map[string]bool {
	steps, process := map[string]bool{}, ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, "unreached in "); ok {
			process = strings.TrimPrefix(name, "proctype ")
		} else if step, ok := strings.CutPrefix(line, "\t"); ok && process != "" && strings.Contains(step, ", state ") {
			steps[process+" "+filepath.Base(step)] = true
		}
	}
	return steps
}
