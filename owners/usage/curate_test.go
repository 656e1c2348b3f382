package usage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/owners/usage/usagetest"
)

// ruleOn is the rule once more, on the file that programs shared before.
func ruleOn(s skill, now time.Time) string {
	anchor := *s.CreatedAt
	var last time.Time
	for _, at := range []*time.Time{s.LastUsedAt, s.LastViewedAt, s.LastPatchedAt} {
		if at != nil && at.After(last) {
			last = *at
		}
	}
	if !last.IsZero() {
		anchor = last
	}
	days := now.Sub(anchor).Hours() / 24
	switch {
	case *s.Pinned, *s.State == "archived":
		return *s.State
	case days >= 30:
		return "archived"
	case days >= 14:
		return "stale"
	}
	return "active"
}

// A day after the last use in the real file.
func TestCurateFollowsTheRuleOnTheRealFile(t *testing.T) {
	legacy, dir := adopted(t)
	p := newPrograms(t, dir)
	now := time.Date(2026, 10, 12, 0, 0, 0, 0, time.UTC)
	want, count := map[string]string{}, map[string]int{}
	for name, s := range legacy {
		want[name] = ruleOn(s, now)
		count[want[name]]++
	}
	if diff := cmp.Diff(map[string]int{"active": 7, "stale": 7, "archived": 132}, count); diff != "" {
		t.Errorf("states by the rule (-want +got):\n%s", diff)
	}
	printed := p.does(t, "curate", "-now", now.Format(time.RFC3339))
	got := map[string]string{}
	moved := 0
	v := p.view(t)
	for name := range legacy {
		s := read(t, v.Skills().Key(name))
		got[name] = *s.State
		if *s.State == *legacy[name].State {
			continue
		}
		moved++
		if archived := *s.State == "archived"; archived != (s.ArchivedAt != nil) || archived && !s.ArchivedAt.Equal(now) {
			t.Errorf("%s is %s, archived at %v", name, *s.State, s.ArchivedAt)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if lines := strings.Count(printed, "\n"); lines != moved || moved == 0 {
		t.Errorf("it says %d moves and made %d", lines, moved)
	}
	if again := p.does(t, "curate", "-now", now.Format(time.RFC3339)); again != "" {
		t.Errorf("the second time it moved\n%s", again)
	}
}

// Problem C's last failure, with the processes in which it happened: a plan is
// made, a skill is deleted and made again, and only then the plan is acted on.
func TestARecreatedSkillIsNotArchivedFromAnOldPlan(t *testing.T) {
	_, dir := adopted(t)
	p := newPrograms(t, dir)
	const now = "2026-10-12T00:00:00Z"
	plan := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(plan, []byte(p.does(t, "curate", "-now", now, "-dry-run")), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := p.skill(t, "deploy"); *s.State != "active" {
		t.Errorf("the dry run made deploy %s", *s.State)
	}
	p.does(t, "skill", "-delete", "deploy")
	p.does(t, "skill", "-by", "agent", "-at", "2026-04-25T15:00:00Z", "deploy") // as old as the first
	p.does(t, "pin", "review")
	out, errs, status := p.run(t, "", "curate", "-now", now, "-plan", plan)
	if status != 0 || !strings.Contains(errs, "curate: left deploy alone: it was deleted since, and its name belongs to another one now\n") ||
		!strings.Contains(errs, "curate: left review alone: ") || strings.Count(errs, "\n") != 2 {
		t.Errorf("status %d, %s", status, errs)
	}
	if strings.Contains(out, "deploy:") || !strings.Contains(out, "triage: archived: no activity since 2026-05-04T03:00:00Z\n") {
		t.Errorf("it says\n%s", out)
	}
	if s := p.skill(t, "deploy"); s.State != nil || s.ArchivedAt != nil || s.UseCount != nil {
		t.Errorf("the new deploy has something of the old one: state %v, archived %v, uses %v", s.State, s.ArchivedAt, s.UseCount)
	}
	if s := p.skill(t, "review"); *s.State != "active" {
		t.Errorf("the pinned one is %s", *s.State)
	}
}

// The skill may be made again before, after or while a curator is at work.
func TestACuratorAtWorkNeverTouchesARecreatedSkill(t *testing.T) {
	p := newPrograms(t, usagetest.State(t))
	const now = "2026-08-12T00:00:00Z"
	for round := range 12 {
		name := fmt.Sprintf("skill-%d", round)
		p.does(t, "skill", "-at", "2026-01-01T00:00:00Z", name)
		var wg sync.WaitGroup
		wg.Go(func() { p.run(t, "", "curate", "-now", now) })
		wg.Go(func() {
			p.does(t, "skill", "-delete", name)
			p.does(t, "skill", "-at", now, name)
		})
		wg.Wait()
		if s := p.skill(t, name); s.State != nil && *s.State != "active" || s.ArchivedAt != nil {
			t.Fatalf("round %d: the skill that was made just now is %s", round, *s.State)
		}
	}
}
