package demo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

func TestExactlyTheClaimantMayLookThingsUp(t *testing.T) {
	for name, test := range map[string]struct {
		l    Latch
		want string // in what is broken; empty: nothing is
	}{
		"one":           {Latch{Copies: 4, OldWay: 4, Freehold: 1, Winner: 7, Claimant: 7}, ""},
		"nobody":        {Latch{Copies: 4, Claimant: 7}, "0 of 4 copies"},
		"two":           {Latch{Copies: 4, Freehold: 2, Winner: 7, Claimant: 7}, "2 of 4 copies"},
		"another":       {Latch{Copies: 4, Freehold: 1, Winner: 7, Claimant: 8}, "process 8 has claimed"},
		"without claim": {Latch{Copies: 4, Freehold: 1, Winner: 7}, "nobody has claimed"},
	} {
		t.Run(name, func(t *testing.T) {
			why := test.l.broken()
			if (why == "") != (test.want == "") || !strings.Contains(why, test.want) {
				t.Errorf("broken: %q, want %q", why, test.want)
			}
			told := tellLooks(&test.l)
			if last := told[len(told)-1]; (last.tone == good) != (test.want == "") {
				t.Errorf("the story says %q", last.text)
			}
		})
	}
}

// Whoever takes a claim or a count away makes the demo fail.
func TestDemoFailsIfAClaimOrACountIsTakenAway(t *testing.T) {
	s, err := setUp(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		act    act
		remove string
		want   string
	}{
		"claim": {playLatch, "*/.freehold/claims/hook/pretool_fired", "nobody has claimed"},
		"count": {playCount, "tool.json", "4000 uses were acknowledged and 0 are counted"},
	} {
		t.Run(name, func(t *testing.T) {
			s.spoil = func(state string) error {
				found, err := filepath.Glob(filepath.Join(state, test.remove))
				if err != nil || len(found) != 1 {
					t.Fatalf("%s is %q (%v)", test.remove, found, err)
				}
				return os.Remove(found[0])
			}
			if err := test.act(t.Context(), s); !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the act ended with %v, want %v: %s", err, ErrBroken, test.want)
			}
		})
	}
}

func newFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The comparison would be none if the old way went wrong by itself.
func TestOldLatchAndOldCountHoldOneAfterTheOther(t *testing.T) {
	file, items := newFile(t, "{}"), newFile(t, "something")
	for i, want := range []string{"something", "", ""} {
		if found, err := oldPretool(file, items, strings.NewReader("{}")); err != nil || found != want {
			t.Errorf("copy %d found %q (%v), want %q", i, found, err, want)
		}
	}
	for range 3 {
		if done, err := oldBump(file, "20", strings.NewReader("")); err != nil || done != "20" {
			t.Errorf("counted %s (%v)", done, err)
		}
	}
	if n := fieldsOf(t, file)[useCount]; n != 60.0 {
		t.Errorf("%v of 60 are counted", n)
	}
}

// However long the look-up takes: nobody's check comes after another's set.
func TestOldLatchLetsThroughWhoeverStartsTogether(t *testing.T) {
	file, items := newFile(t, "{}"), newFile(t, "something")
	synctest.Test(t, func(t *testing.T) {
		found := make(chan string, copies)
		for range copies {
			go func() {
				text, err := oldPretool(file, items, strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
				}
				found <- text
			}()
		}
		for range copies {
			if text := <-found; text != "something" {
				t.Errorf("a copy found %q", text)
			}
		}
	})
}
