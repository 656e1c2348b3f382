package demo

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// newTestStage returns a stage without a state.
func newTestStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t.TempDir(), Options{Self: "/bin/false"})
	t.Cleanup(func() {
		if s.err != nil {
			t.Error(s.err)
		}
	})
	return s
}

// Without this law the comparison would prove nothing.
func TestOldRunsLoseNothingOneAfterAnother(t *testing.T) {
	s := newTestStage(t)
	s.write("runtime.json", runtimeFile())
	var tally Tally
	for _, program := range programs {
		started, acknowledged := s.race(t.Context(), []string{program}, oldRun)
		tally.Started += started
		tally.Acknowledged += acknowledged
	}
	text := s.sh(t.Context(), "cat runtime.json")
	tally.count(recorded(decode[map[string]any](s, text), ""))
	if !tally.kept() || tally.Recorded != len(programs)*runsEach {
		t.Errorf("%+v", tally)
	}
	if !strings.Contains(text, `"state": "shared"`) {
		t.Errorf("another program's line is gone:\n%s", text)
	}
}

func TestAcknowledgedRunsAreThoseWithStatusZero(t *testing.T) {
	s := newTestStage(t)
	started, acknowledged := s.race(t.Context(), []string{"a", "b"}, `[ $me = a ] && [ $i -ne 3 ]`)
	if started != 2*runsEach || acknowledged != runsEach-1 {
		t.Errorf("%d of %d acknowledged", acknowledged, started)
	}
}

// Every word of a result changes with the measurements.
func TestResultsFollowFromMeasurements(t *testing.T) {
	lost := Tally{Started: 9, Acknowledged: 8}
	lost.count(5)
	for _, test := range []struct{ got, want string }{
		{(&Tally{Started: 9, Acknowledged: 9, Recorded: 9}).text(), "9 of 9 runs acknowledged, 9 on record: none lost"},
		{lost.text(), "8 of 9 runs acknowledged, 5 on record: 3 LOST"},
		{Answer{Words: 7}.text(3), "acts on 7 words, and the context has 3: WRONG"},
		{Answer{Words: 3}.text(3), "acts on 3 words, and the context has 3"},
		{Answer{Status: 4}.text(3), "refused, exit status 4"},
		{Ending{Meant: 1, Before: 2, After: 3, Status: 9}.text(), "meant process 1, exit status 9: successor 2 was HIT"},
		{Ending{Meant: 1, Before: 2, After: 2, Status: 6}.text(), "meant process 1, exit status 6: successor 2 lives"},
		{Ending{Meant: 2, Before: 2, After: 3}.text(), "meant process 2, exit status 0: 2 ended, 3 is next"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}

func TestDemoThatCannotBeginLeavesNothingBehind(t *testing.T) {
	full := errors.New("full")
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"no freehold": {Options{Self: "/nowhere/freehold"}, "freehold state init"},
		"no output":   {Options{Self: "/bin/false", Print: func(string) error { return full }}, "full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			_, err := Play(t.Context(), test.options)
			if err == nil || errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}
