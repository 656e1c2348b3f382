package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/demo"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// An audience is the place where a demo is played.
type audience struct {
	temp   string // $TMPDIR
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// demoCommand returns the demo, not yet begun.
func demoCommand(t *testing.T, args ...string) (*exec.Cmd, *audience) {
	t.Helper()
	a := &audience{temp: t.TempDir()}
	cmd := exec.CommandContext(t.Context(), "freehold", append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+a.temp, "FREEHOLD_DIR=/nowhere", "FREEHOLD_SEEN=nonsense")
	cmd.Dir = a.temp // neither a module nor a clone of Freehold
	cmd.Stdout, cmd.Stderr = &a.stdout, &a.stderr
	return cmd, a
}

// nothingLeft checks that the directory of the demo is gone.
func (a *audience) nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(a.temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestDemoTellsItsWholeStory(t *testing.T) {
	cmd, a := demoCommand(t)
	if err := cmd.Run(); err != nil || a.stderr.Len() > 0 {
		t.Fatalf("%v, stderr %q, stdout:\n%s", err, &a.stderr, &a.stdout)
	}
	a.nothingLeft(t)
	story := a.stdout.String()
	if n := strings.Count(story, "\n"); n > 40 {
		t.Errorf("%d lines", n)
	}
	for line := range strings.Lines(story) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > 80 || strings.ContainsAny(line, "\t\x1b") || line != strings.TrimRight(line, " ") {
			t.Errorf("line %q", line)
		}
	}
	lost := find(t, story, `acknowledged, (\d+) on record: (\d+) LOST\n`)
	if lost[1]+lost[2] != 200 {
		t.Errorf("%d on record and %d lost", lost[1], lost[2])
	}
	find(t, story, `\n +200 of 200 runs acknowledged, 200 on record: none lost\n`)
	find(t, story, `\n +acts on 1200 words, and the context has 3: WRONG\n`)
	find(t, story, `\n +refused, exit status 1\n +measured again: acts on 3 words, and the context has 3\n`)
	if _, err := exec.LookPath("go"); err == nil {
		find(t, story, `\n +guard/main\.go:3:8:\n +use of internal package\n +demo/owners/demo/reset/internal/resetfile not allowed\n`)
	}
	old := find(t, story, `\n +meant process (\d+), exit status 0: successor (\d+) was HIT\n`)
	crashed := find(t, story, `\n +meant process (\d+), exit status 6: successor (\d+) lives\n`)
	own := find(t, story, `\n +meant process (\d+), exit status 0: (\d+) ended, (\d+) is next\n`)
	if old[1] == old[2] || crashed[1] == crashed[2] || own[1] != crashed[2] || own[1] != own[2] || own[2] == own[3] {
		t.Errorf("processes %d, %d and %d", old[1:], crashed[1:], own[1:])
	}
}

// find returns the numbers that a pattern matches.
func find(t *testing.T, text, pattern string) []int {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("nothing matches %s in:\n%s", pattern, text)
	}
	numbers := make([]int, len(match))
	for i := range match[1:] {
		numbers[i+1], _ = strconv.Atoi(match[i+1])
	}
	return numbers
}

func TestDemoAsJSONIsOneReport(t *testing.T) {
	cmd, a := demoCommand(t, "--json")
	if err := cmd.Run(); err != nil || a.stderr.Len() > 0 {
		t.Fatalf("%v, stderr %q", err, &a.stderr)
	}
	a.nothingLeft(t)
	var r demo.Report
	if err := json.Unmarshal(a.stdout.Bytes(), &r); err != nil || bytes.Count(a.stdout.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%v: %s", err, &a.stdout)
	}
	if old := r.Updates.OldWay; old.Lost == 0 || old.Lost != old.Acknowledged-old.Recorded {
		t.Errorf("old way: %+v", old)
	}
	if want := (demo.Tally{Started: 200, Acknowledged: 200, Recorded: 200}); r.Updates.Freehold != want {
		t.Errorf("updates %+v, want %+v", r.Updates.Freehold, want)
	}
	if want := (demo.Guard{Measured: 1200, Now: 3, OldWay: demo.Answer{Words: 1200},
		Freehold: demo.Answer{Status: 1}, Again: demo.Answer{Words: 3}}); r.Guard != want {
		t.Errorf("guard %+v, want %+v", r.Guard, want)
	}
	if c := r.Compile; !c.Tried || !strings.Contains(c.Refusal, "not allowed") || c.Own != "" {
		t.Errorf("compile: %+v", c)
	}
	if e := r.Retire.Freehold; e.Status != failure.ExitIdentity || e.Meant == e.Before || e.Before != e.After {
		t.Errorf("retire: %+v", e)
	}
}

// A freehold that breaks a promise makes the demo fail, in words that come from
// the measurement.
func TestDemoFailsIfAPromiseIsBroken(t *testing.T) {
	real, err := exec.LookPath("freehold")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ broken, want string }{
		"updates are lost":           {`[ "$1 $2" != "add tick" ] || exit 0`, "200 of 200 runs acknowledged, 180 on record: 20 LOST"},
		"updates are refused":        {`[ "$1 $2" != "add tick" ] || exit 5`, "180 of 200 runs acknowledged, 180 on record: none lost"},
		"what is stale passes":       {`[ $1 != get ] || set -- get words`, "acts on 1200 words, and the context has 3: WRONG"},
		"what is fresh is refused":   {`[ $1 != get ] || exit 1`, "measured again: refused, exit status 1"},
		"retire hits the successor":  {`[ $1 != retire ] || { p=$(cat pid); kill $p; while kill -0 $p; do :; done 2>&-; exit 6; }`, "was HIT"},
		"retire says nobody is that": {`[ $1 != retire ] || exit 9`, "exit status 9: successor"},
		"retire refuses everything":  {`[ $1 != retire ] || exit 6`, "exit status 6: successor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			self := filepath.Join(t.TempDir(), "freehold")
			script := "#!/bin/sh\n[ \"$1 $3\" != 'lease --' ] || echo $$ >pid\n" + test.broken + "\nexec '" + real + "' \"$@\"\n"
			if err := os.WriteFile(self, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			var told strings.Builder
			_, err := demo.Play(t.Context(), demo.Options{Self: self, Print: func(text string) error {
				told.WriteString(text)
				return nil
			}})
			if !errors.Is(err, demo.ErrBroken) || !errors.Is(classDemo(err), failure.Negative) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("the demo ended with %v, want %v and %q", err, demo.ErrBroken, test.want)
			}
			if !strings.Contains(told.String(), test.want) || strings.Contains(told.String(), "measured just now") {
				t.Errorf("the story is not that of a failure:\n%s", &told)
			}
			kept, _ := filepath.Glob(filepath.Join(os.TempDir(), "freehold-demo-*"))
			if len(kept) != 1 || !strings.Contains(err.Error(), kept[0]) {
				t.Errorf("kept %q, and the error is %v", kept, err)
			}
		})
	}
}
