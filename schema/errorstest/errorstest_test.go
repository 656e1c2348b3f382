package errorstest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `package p

import ("errors"; "fmt")

var errShut = errors.New("shut")

type problem struct{ what string }

func (p problem) Error() string { return "it is " + p.what + ": mend it" }

type hinted struct { error; hint string }

func tell(format string, args ...any) { fmt.Printf(format, args...) }

func usage(format string, args ...any) error { return fmt.Errorf(format, args...) }

func all(x string) []error {
	tell("all is %s", x)
	return []error{
		fmt.Errorf("%s: owner %s: %w", x, x, errShut),
		fmt.Errorf("%s: %w", x, errShut),
		fmt.Errorf("%s is %d too many: take some" + " out", x, 1),
		usage("the flag %q is unknown: leave it out", x),
		problem{fmt.Sprintf("odd %s", x)},
		hinted{errShut, "open it"},
		failure.Hint(errShut, "ask for it"),
	}
}
`

// Every way to make the text of an error is found; what only wraps is not.
func TestSitesFindsEveryText(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	found, err := sites(dir, []string{"tell"}, map[string]int{"Hint": 1})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found {
		got = append(got, s.text)
	}
	want := []string{"shut", "it is %v: mend it", "%s is %d too many: take some out", "the flag %q is unknown: leave it out", "odd %s", "open it", "ask for it"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !found[2].says.MatchString("x.json: cost is 3 too many: take some out") || found[2].says.MatchString("cost is 3 too many") {
		t.Errorf("%s does not match what it comes out as", found[2].says)
	}
}

func TestRemedyIsTheLastClause(t *testing.T) {
	for says, want := range map[string]bool{
		"x.json: busy: process 7 holds the lock; try again":         true,
		"x.json: foreign: look at it, then run `freehold accept x`": true,
		"x.json: foreign: `freehold quarantine x` moves it aside":   true,
		"invalid value: want a number, not \"x\"":                   true,
		"x.json: the file ends too early":                           false,
		"it could not be opened":                                    false,
		"try again:\nno":                                            false,
	} {
		if got := Helps(says); got != want {
			t.Errorf("%q: says what to do: %v, want %v", says, got, want)
		}
	}
}

// What a terminal would obey fails the test that would print it.
func TestSameRefusesControlCharacters(t *testing.T) {
	defer func(before string) { home = before }(home)
	home = t.TempDir()
	update := true
	g := Golden{Update: &update}
	for _, says := range []string{"a\x1b[2J", "a\u202eb", "a\rb", "a\x00"} {
		var r recorder
		g.Same(&r, "how", errors.New(says))
		if !r.failed {
			t.Errorf("%q passes", says)
		}
	}
}

// A word stands for what differs from run to run where that stands alone, and
// for no digits that happen to be the same.
func TestSteadyReplacesWholeWords(t *testing.T) {
	for said, want := range map[string]string{
		"/srv/x/a.json: it is 10s, or /srv/x":      "STATE/a.json: it is GRACE, or STATE",
		"/srv/xy: 110s is not 10seconds":           "/srv/xy: 110s is not 10seconds",
		"process 23372 is not 9223372036854775807": "process PID is not 9223372036854775807",
	} {
		if got := steady(said, []string{"/srv/x", "STATE", "10s", "GRACE", "", "NOTHING"}); got != want {
			t.Errorf("%q is made %q, want %q", said, got, want)
		}
	}
	var r recorder
	(&Golden{}).Same(&r, "how", errors.New("7"), "7", "PID")
	if !r.failed {
		t.Error("a bare number passes for a word")
	}
}

// recorder notes that a test would have failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatal(...any)          { r.failed = true }
