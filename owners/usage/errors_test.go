package usage_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/usage/usagetest"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

// said holds the output of the programs.
var said = errorstest.Golden{
	Update: flag.Bool("update", false, "write the golden files anew"),
	Folders: []string{"creator", "creator/cmd/skill", "curator", "curator/cmd/curate", "tool", "tool/cmd/bump", "tool/cmd/skilluse",
		"user", "user/cmd/pin"},
	Wraps:  []string{"../../sidecar", "../../schema"},
	Untold: map[string]string{"want %s, not %q": "generated for enums; TestANewModuleBuildsAndRuns of gen/tree provokes it"},
	Unhelped: map[string]string{
		"curate: of no known time": "it says why nothing was done, to whoever asks for what was done",
		"skill: there is none":     "there is nothing to do",
	},
}

// TestErrorsSayWhatToDo provokes the errors of the owners, as their programs
// print them.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := usagetest.State(t, usagetest.Skills("deploy", "timeless"), usagetest.SkillsLastUsedAt("deploy", day(1)))
	p := newPrograms(t, dir)
	plan := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(plan, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for how, c := range map[string]struct {
		stdin, program string
		args           []string
	}{
		"bump: no act":              {"", "bump", []string{"-act", "eat", "deploy"}},
		"bump: no skill":            {"", "bump", []string{"n\x1bne"}},
		"skill: there is one":       {"", "skill", []string{"deploy"}},
		"skill: there is none":      {"", "skill", []string{"-delete", "none"}},
		"curate: of no known time":  {"", "curate", []string{"-now", "2026-08-03T00:00:00Z"}},
		"curate: no plan":           {"", "curate", []string{"-plan", plan}},
		"skilluse: a strange input": {`{"hook_event_name":"PreToolUse","tool_name":"Skill","tool_input":{"skill":7}}`, "skilluse", nil},
	} {
		_, stderr, _ := p.run(t, c.stdin, c.program, c.args...)
		said.Same(t, how, errors.New(stderr), dir, "STATE", plan, "PLAN")
	}
	_, stderr, _ := newPrograms(t, usagetest.State(t, usagetest.Skills("early"), usagetest.SkillsLastUsedAt("early", day(9)))).run(t, "", "curate", "-now", "2026-08-03T00:00:00Z")
	said.Same(t, "curate: ahead of now", errors.New(stderr))
}

func day(n int) time.Time { return time.Date(2026, 8, n, 0, 0, 0, 0, time.UTC) }

// TestErrorsAreAllTold fails for an error that no test of the state provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
