package console

import (
	"time"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar"
)

// A Writing is one call of a command that acts as an owner.
type Writing struct {
	Program string
	Wait    Wait
	// For is the process that claims and beginnings are for.
	For int
}

// A Wait is the flag --wait.
type Wait struct {
	Time  time.Duration
	Given bool
}

// Set gives the flag a value.
func (w *Wait) Set(text string) (err error) {
	w.Given = true
	w.Time, err = time.ParseDuration(text)
	return err
}

func (w *Wait) String() string {
	if !w.Given {
		return ""
	}
	return w.Time.String()
}

// Type returns the word for values of the flag.
func (w *Wait) Type() string { return "duration" }

// Patience returns the value of --wait as packages sidecar, adopt and upgrade
// take it: zero if it was not given, negative for no waiting.
func (w Wait) Patience() (time.Duration, error) {
	switch {
	case w.Time < 0:
		return 0, failure.Usage("--wait %s is negative: give 0s for no waiting", w.Time)
	case w.Time == 0 && w.Given:
		return -1, nil
	}
	return w.Time, nil
}

// CheckProgram returns the error of a value of --program that the records of a
// state cannot keep as it is.
func CheckProgram(name string) error {
	switch {
	case len(name) > sidecar.MaxProgram:
		return failure.Usage("--program has %d bytes, more than the %d that provenance keeps: give a shorter name", len(name), sidecar.MaxProgram)
	case !utf8.ValidString(name):
		return failure.Usage("--program %q is no UTF-8: give another name", name)
	}
	return nil
}

// Prepare returns the state directory and the options to act there.
func (w *Writing) Prepare(c *Console, p *Place) (dir string, o *sidecar.Options, err error) {
	o = &sidecar.Options{Program: w.Program, Bounded: true, For: w.For, Notice: c.Notice}
	if err := CheckProgram(w.Program); err != nil {
		return "", nil, err
	}
	if o.Wait, err = w.Wait.Patience(); err != nil {
		return "", nil, err
	}
	dir, err = p.Find()
	return dir, o, err
}
