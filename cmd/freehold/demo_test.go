package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/demo"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/google/go-cmp/cmp"
)

// An audience is where a demo is played; what it leaves is removed.
type audience struct {
	temp   string // $TMPDIR
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// demoCommand returns the demo, not yet begun, played in memory if that can be.
func demoCommand(t *testing.T, args ...string) (*exec.Cmd, *audience) {
	t.Helper()
	return demoBelow(t, scratch.Dir(scratch.Use{Room: 512 << 20, Programs: true}), args...)
}

// demoBelow returns the demo, not yet begun, played in a directory below parent,
// or if that is empty, where temporary files go.
func demoBelow(t *testing.T, parent string, args ...string) (*exec.Cmd, *audience) {
	t.Helper()
	a := &audience{}
	// Not t.TempDir: its long name would make the lines of the story wrap.
	var err error
	if a.temp, err = os.MkdirTemp(parent, "d"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(a.temp) })
	cmd := exec.CommandContext(t.Context(), "freehold", append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+a.temp, "FREEHOLD_DIR=/nowhere")
	cmd.Stdout, cmd.Stderr = &a.stdout, &a.stderr
	return cmd, a
}

// The real thing, from the command in the README to the pasted last line.
func TestDemoTellsItsWholeStory(t *testing.T) {
	before := sourceSums(t)
	compile := exec.Command("go", "run", "./cmd/freehold", "version")
	compile.Dir = "../.."
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd, a := demoBelow(t, "") // the name of one in memory would make lines wrap
	// As the README has it.
	cmd.Path, cmd.Args, cmd.Dir = compile.Path, []string{"go", "run", "./cmd/freehold", "demo"}, "../.."
	err := cmd.Run()
	if err != nil || a.stderr.Len() > 0 {
		t.Fatalf("%v, stderr %q, stdout:\n%s", err, &a.stderr, &a.stdout)
	}
	story := a.stdout.String()
	t.Run("fits one screen", func(t *testing.T) { fitsOneScreen(t, story) })
	t.Run("counts", func(t *testing.T) { countsLosses(t, story) })
	t.Run("counts within one owner", func(t *testing.T) { countsWithinOneOwner(t, story) })
	t.Run("refusals", func(t *testing.T) { showsRefusals(t, story) })
	t.Run("view", func(t *testing.T) { showsTheView(t, story) })
	t.Run("next command", func(t *testing.T) { nextCommandWorks(t, story) })
	if diff := cmp.Diff(before, sourceSums(t)); diff != "" {
		t.Errorf("the demo touched the source (-before +after):\n%s", diff)
	}
}

func fitsOneScreen(t *testing.T, story string) {
	if n := strings.Count(story, "\n"); n > 40 {
		t.Errorf("%d lines", n)
	}
	for line := range strings.Lines(story) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) > 80 || strings.ContainsAny(line, "\t\x1b") {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
}

// countsLosses checks the table of losses.
func countsLosses(t *testing.T, story string) {
	var sum, all [3]int
	for _, name := range []string{"sessionstart", "stop", "tick", "all"} {
		match := find(t, story, `\n +`+name+` +(\d+) +(\d+) +(\d+)\n`)
		var row [3]int
		for i := range row {
			row[i], _ = strconv.Atoi(match[i+1])
		}
		if row[0] == 0 || row[1] > row[0] || row[2] != 0 {
			t.Errorf("%s: %d of %d updates lost the old way and %d with Freehold", name, row[1], row[0], row[2])
		}
		if name == "all" {
			all = row
			break
		}
		for i := range sum {
			sum[i] += row[i]
		}
	}
	if sum != all || all[0] != 100 {
		t.Errorf("the hooks sum up to %d, and all are %d", sum, all)
	}
	if all[1] == 0 {
		t.Error("the old way lost nothing")
	}
	total := find(t, story, `Freehold: ([0-9.]+), the sum of all 40 rows; in (\d+) views nothing moved back\.`)
	if total[1] != "16.558197" {
		t.Errorf("total %s, and the log sums up to 16.558197", total[1])
	}
	if views, _ := strconv.Atoi(total[2]); views < 10 {
		t.Errorf("only %d views were checked", views)
	}
}

// countsWithinOneOwner checks what many processes did with one owner's fields.
func countsWithinOneOwner(t *testing.T, story string) {
	old := find(t, story, `Old way, check a latch, look up \(200ms\), set it: (\d) of 4 looked things up\.`)
	if n, _ := strconv.Atoi(old[1]); n < 2 {
		t.Errorf("%d copies of one hook looked things up the old way", n)
	}
	find(t, story, `Freehold, with a claim: 1 looked up, process \d+; the others were told so\.`)
	lost := find(t, story, `Old way, read, add 1 and rename: (\d+) of 4000 are LOST\.`)
	if n, _ := strconv.Atoi(lost[1]); n == 0 {
		t.Error("the old way lost no count")
	}
	find(t, story, `Freehold: 4000 of 4000 are counted, 0 are lost\.`)
}

func showsRefusals(t *testing.T, story string) {
	text := strings.Join(strings.Fields(story), " ")
	for _, want := range []string{
		"tx.ContextCleared().Set(true)",
		"field.go:19:6: tx.ContextCleared undefined (type costfile.Tx has no field or method ContextCleared)",
		"main.go:8:2: use of internal package github.com/freehold-dev/freehold/owners/runtime/reset/internal/resetfile not allowed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the story does not show %q", want)
		}
	}
}

func showsTheView(t *testing.T, story string) {
	find(t, story, `\n +total_usd +16\.558197 +cost +stop \d+\n`)
	find(t, story, `\n +last_context_reset_at +\S+Z +reset +sessionstart \d+\n`)
	find(t, story, `\n +last_decision +\S+ +watchdog +tick \d+\n`)
	find(t, strings.Join(strings.Fields(story), " "), `\$ freehold explain last_context_reset_at last_context_reset_at is \S+Z\. Owner reset last ended it at`)
}

// nextCommandWorks pastes the last line into a shell.
func nextCommandWorks(t *testing.T, story string) {
	lines := strings.Split(strings.TrimSpace(story), "\n")
	shell := exec.Command("sh", "-c", lines[len(lines)-1])
	shell.Dir = t.TempDir()
	shell.Env = []string{"PATH=/bin:/usr/bin"}
	out, err := shell.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "16.558197") {
		t.Errorf("%s\n%s%v", lines[len(lines)-1], out, err)
	}
}

func find(t *testing.T, text, pattern string) []string {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("nothing matches %s in:\n%s", pattern, text)
	}
	return match
}

// sourceSums returns the sum of every file of this module.
func sourceSums(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && entry.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDemoAsJSONIsOneObjectWithCommandsThatWork(t *testing.T) {
	cmd, a := demoCommand(t, "--json")
	if err := cmd.Run(); err != nil || a.stderr.Len() > 0 {
		t.Fatalf("%v, stderr %q", err, &a.stderr)
	}
	var report demo.Report
	if err := json.Unmarshal(a.stdout.Bytes(), &report); err != nil || bytes.Count(a.stdout.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%v: %s", err, &a.stdout)
	}
	if report.OldWay.Lost == 0 || report.Freehold.Lost != 0 || report.Freehold.Updates != 100 {
		t.Errorf("report: %+v", report)
	}
	if report.OldWay.TotalUSD == report.OldWay.SpentUSD || report.Freehold.TotalUSD != report.Freehold.SpentUSD {
		t.Errorf("money: %+v", report)
	}
	if l := report.Latch; l.Copies != 4 || l.Freehold != 1 || l.Winner == 0 || l.Winner != l.Claimant {
		t.Errorf("latch: %+v", l)
	}
	if c := report.Count; c.OldWay.Lost == 0 || c.OldWay.Lost != c.OldWay.Acknowledged-c.OldWay.Counted || c.Freehold != (demo.CountTally{Acknowledged: 4000, Counted: 4000}) {
		t.Errorf("count: %+v", c)
	}
	for _, r := range report.Refusals {
		shell := exec.Command("sh", "-c", r.Command)
		shell.Dir = "../.."
		out, err := shell.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err == nil || got != r.Output {
			t.Errorf("%s: %v\n%s\nwant:\n%s", r.Command, err, got, r.Output)
		}
	}
	if len(report.Refusals) != 2 {
		t.Errorf("%d refusals", len(report.Refusals))
	}
}

// Whoever takes the file of an owner away while its programs are at work makes
// the demo fail, and aloud.
func TestDemoExitsNonZeroIfAnythingIsLost(t *testing.T) {
	cmd, a := demoCommand(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	theft := time.NewTicker(time.Millisecond)
	defer theft.Stop()
	for {
		select {
		case err := <-ended:
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != exitNegative {
				t.Errorf("it ended with %v, want status %d:\n%s", err, exitNegative, &a.stdout)
			}
			if !strings.HasPrefix(a.stderr.String(), "freehold: error: a promise is broken: ") {
				t.Errorf("stderr %q", &a.stderr)
			}
			return
		case <-theft.C:
			sidecars, _ := filepath.Glob(filepath.Join(a.temp, "freehold-demo-*", "state", "reset.json"))
			for _, sidecar := range sidecars {
				os.Remove(sidecar)
			}
		}
	}
}
