package status

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"testing"
)

func TestErrorWrapsStatusAndCause(t *testing.T) {
	cause := errors.New("byte 7: want a colon")
	err := fmt.Errorf("commit: %w", &Error{Status: Invalid, Path: "/s/cost.json", Err: cause})
	if !errors.Is(err, Invalid) || !errors.Is(err, cause) || errors.Is(err, Foreign) {
		t.Errorf("%v wraps the wrong errors", err)
	}
	if got, want := err.Error(), "commit: /s/cost.json: invalid: byte 7: want a colon"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
}

func TestErrorRepeatsNeitherStatusNorPath(t *testing.T) {
	for want, err := range map[string]error{
		"/s/a: invalid: byte 7":                          &Error{Status: Invalid, Path: "/s/a", Err: errors.New("invalid: byte 7")},
		"/s/a: unreadable: open: file already exists":    &Error{Status: Unreadable, Path: "/s/a", Err: &fs.PathError{Op: "open", Path: "/s/a", Err: fs.ErrExist}},
		"/s/a: unreadable: open /s: file already exists": &Error{Status: Unreadable, Path: "/s/a", Err: &fs.PathError{Op: "open", Path: "/s", Err: fs.ErrExist}},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOutermostStatusAndRemedyCount(t *testing.T) {
	inner := &Error{Status: Unreadable, Remedy: By(Quarantine, "cost")}
	for _, c := range []struct {
		err    error
		status Status
		remedy Remedy
	}{
		{nil, OK, Remedy{}},
		{errors.New("disk"), "", Remedy{}},
		{fs.ErrNotExist, Missing, Remedy{}},
		{fmt.Errorf("%w: late", Busy), Busy, Remedy{}},
		{inner, Unreadable, By(Quarantine, "cost")},
		{&Error{Status: Regressed, Err: inner}, Regressed, By(Quarantine, "cost")},
		{&Error{Status: Regressed, Remedy: By(Accept, "cost"), Err: inner}, Regressed, By(Accept, "cost")},
		{With(inner, By(Accept, "cost").Or("bring the newer copy back")), Unreadable, Remedy{Verb: Accept, Args: []string{"cost"}, Note: "bring the newer copy back"}},
	} {
		if got := Of(c.err); got != c.status {
			t.Errorf("status of %v is %q, want %q", c.err, got, c.status)
		}
		if got := RemedyOf(c.err); !reflect.DeepEqual(got, c.remedy) {
			t.Errorf("remedy of %v is %+v, want %+v", c.err, got, c.remedy)
		}
	}
}

func TestRemedyIsReadable(t *testing.T) {
	for want, r := range map[string]Remedy{
		"":                           {},
		"accept cost":                By(Accept, "cost"),
		"look at it; or accept cost": By(Accept, "cost").Or("look at it"),
		"restore it from a backup":   {Note: "restore it from a backup"},
		"chmod go-w /s":              {Tool: []string{"chmod", "go-w", "/s"}},
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
