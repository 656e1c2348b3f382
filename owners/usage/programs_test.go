package usage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/usage"
	"github.com/freehold-dev/freehold/owners/usage/usagetest"
	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

// bin is where the state's programs are built, if a test needs them.
var bin string

var build = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", bin+"/", "./creator/cmd/skill", "./tool/cmd/bump", "./tool/cmd/skilluse", "./curator/cmd/curate", "./user/cmd/pin").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "usage-programs-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	return m.Run()
}

// Programs are the state's programs at work in a state.
type programs struct{ dir string }

func newPrograms(t *testing.T, dir string) programs {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return programs{dir}
}

// run runs a program with a text as its standard input.
func (p programs) run(t *testing.T, stdin, program string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, program), append([]string{"-dir", p.dir}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// does runs a program that must succeed and be silent on standard error.
func (p programs) does(t *testing.T, program string, args ...string) (stdout string) {
	t.Helper()
	out, errs, status := p.run(t, "", program, args...)
	if status != 0 || errs != "" {
		t.Errorf("%s %q: status %d, %s", program, args, status, errs)
	}
	return out
}

func (p programs) view(t *testing.T) usage.View {
	t.Helper()
	r, err := usage.Open(p.dir)
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

func (p programs) skill(t *testing.T, name string) skill {
	t.Helper()
	return read(t, p.view(t).Skills().Key(name))
}

// Case 122: the total is the number of acts that the processes were told to have
// counted, with any number of views meanwhile.
func TestParallelBumpsAllCount(t *testing.T) {
	legacy, dir := adopted(t)
	p := newPrograms(t, dir)
	const processes, each = 8, 25
	at := legacy["deploy"].LastUsedAt.Add(time.Hour).Format(time.RFC3339)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for range processes {
			wg.Go(func() {
				if out := p.does(t, "bump", "-at", at, "-times", fmt.Sprint(each), "deploy"); out != fmt.Sprintf("%d\n", each) {
					t.Errorf("acknowledged %q", out)
				}
			})
		}
		wg.Wait()
	}()
	last := uint64(0)
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		case <-time.After(time.Millisecond):
		}
		now := *p.skill(t, "deploy").UseCount
		if now < last {
			t.Fatalf("the count went back from %d to %d", last, now)
		}
		last = now
	}
	if want := *legacy["deploy"].UseCount + processes*each; last != want {
		t.Errorf("counted %d, want %d", last, want)
	}
	if s := p.skill(t, "deploy"); s.LastUsedAt.Format(time.RFC3339) != at || *s.ViewCount != *legacy["deploy"].ViewCount {
		t.Errorf("last used %v, viewed %d times", s.LastUsedAt, *s.ViewCount)
	}
}

// Case 125: nothing of a deleted skill comes back, neither by its tool nor with
// a skill of its name.
func TestADeletedSkillStaysDeleted(t *testing.T) {
	_, dir := adopted(t)
	p := newPrograms(t, dir)
	p.does(t, "skill", "-delete", "deploy")
	if out, errs, status := p.run(t, "", "bump", "deploy"); status != 1 || out != "0\n" || !strings.Contains(errs, "no such key") {
		t.Errorf("bump: status %d, printed %q and %q", status, out, errs)
	}
	if known, err := p.view(t).Skills().Has("deploy"); known || err != nil {
		t.Errorf("deploy is there: %v (%v)", known, err)
	}
	if _, errs, status := p.run(t, "", "skill", "-delete", "deploy"); status != 1 || !strings.Contains(errs, "nothing to delete") {
		t.Errorf("deleting it again: status %d, %q", status, errs)
	}
	p.does(t, "skill", "-by", "agent", "deploy")
	p.does(t, "bump", "-act", "patch", "deploy")
	s := p.skill(t, "deploy")
	if s.UseCount != nil || s.Pinned != nil || s.State != nil || *s.PatchCount != 1 || *s.CreatedBy != "agent" {
		t.Errorf("the new one is %+v", s)
	}
	if _, errs, status := p.run(t, "", "skill", "deploy"); status != 1 || !strings.Contains(errs, "the skill exists") {
		t.Errorf("making it again: status %d, %q", status, errs)
	}
}

// A hook counts the acts of the agent's tools on skills and nothing else, and
// never stands in its agent's way.
func TestSkillUseCountsWhatToolsDo(t *testing.T) {
	real, err := os.ReadFile("../session/testdata/hook-pretooluse.json")
	if err != nil {
		t.Fatal(err)
	}
	p := newPrograms(t, usagetest.State(t, usagetest.Skills("deploy")))
	call := func(event, name, input string) string {
		var in map[string]any
		if err := json.Unmarshal(real, &in); err != nil {
			t.Fatal(err)
		}
		in["hook_event_name"], in["tool_name"], in["tool_input"] = event, name, json.RawMessage(input)
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tc := range []struct{ stdin, says string }{
		{string(real), ""}, // a Bash command
		{call("PreToolUse", "Skill", `{"skill": "deploy", "args": "now"}`), ""},
		{call("PostToolUse", "Skill", `{"skill": "deploy"}`), ""},
		{call("PostToolUse", "Skill", `{"skill": "deploy", "args": "cut in the middle of \ud83d"}`), ""},
		{call("PostToolUse", "Read", `{"file_path": "/home/agent/.agent/skills/deploy/SKILL.md"}`), ""},
		{call("PostToolUse", "Read", `{"file_path": "/home/agent/.agent/skills/deploy/other.md"}`), ""},
		{call("PostToolUse", "Read", `{"file_path": "/home/agent/SKILL.md"}`), ""},
		{call("PostToolUse", "Write", `{"file_path": "skills/deploy/scripts/run.sh"}`), ""},
		{call("PostToolUse", "Edit", `{"file_path": "/home/agent/proj/main.go"}`), ""},
		{call("PostToolUse", "Skill", `{"skill": "unknown"}`), "no such key"},
		{call("PostToolUse", "Skill", `{"skill": 7}`), "the tool_input of Skill"},
		{call("Stop", "Skill", `{"skill": "deploy"}`), "this program is for PreToolUse or PostToolUse"},
		{"", "not an event of the agent"},
	} {
		out, errs, status := p.run(t, tc.stdin, "skilluse")
		if status != 0 || out != "" || (errs == "") != (tc.says == "") || !strings.Contains(errs, tc.says) {
			t.Errorf("%s: status %d, printed %q and %q, want 0 and %q", tc.stdin, status, out, errs, tc.says)
		}
	}
	s := p.skill(t, "deploy")
	if *s.UseCount != 3 || *s.ViewCount != 1 || *s.PatchCount != 1 {
		t.Errorf("counted %d uses, %d views, %d patches; want 3, 1, 1", *s.UseCount, *s.ViewCount, *s.PatchCount)
	}
}

func TestProgramsSayHowTheyAreCalled(t *testing.T) {
	p := newPrograms(t, t.TempDir())
	for _, tc := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"bump"}, 64, "usage: bump [flags] SKILL"},
		{[]string{"bump", "-act", "eat", "-dir", usagetest.State(t), "deploy"}, 64, "want use, view or patch"},
		{[]string{"bump", "-at", "now", "deploy"}, 64, `as "2006"`},
		{[]string{"curate", "deploy"}, 64, "usage: curate [flags]"},
		{[]string{"pin", "-h"}, 0, "usage: pin [flags] SKILL"},
		{[]string{"pin", "deploy"}, 1, "pin: "},
		{[]string{"curate"}, 1, "not a state directory"},
		{[]string{"curate", "-plan", "/dev/null"}, 1, "/dev/null is not a plan"},
	} {
		out, errs, status := p.run(t, "", tc.args[0], tc.args[1:]...)
		if status != tc.status || !strings.Contains(errs, tc.says) {
			t.Errorf("%q: status %d, printed %q and %q, want %d and %q", tc.args, status, out, errs, tc.status, tc.says)
		}
	}
}
