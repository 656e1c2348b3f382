package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
)

// hinted is an error with advice that is not part of its sentence.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// complain writes err to standard error, if there is one. The mistakes of a
// declaration begin with their position, where editors look for it, and so do
// the values of a legacy file that fit no field.
func (c *cli) complain(err error) {
	if err == nil {
		return
	}
	if v, ok := errors.AsType[verdict](err); ok && v.says == "" {
		return
	}
	if problems, ok := errors.AsType[declare.Problems](err); ok {
		for _, p := range problems {
			fmt.Fprintln(c.stderr, visible(c.runnable(p.Error())))
		}
		err = mistakes(problems)
	}
	if misfits, ok := errors.AsType[adopt.Misfits](err); ok {
		for _, m := range misfits {
			fmt.Fprintln(c.stderr, visible(c.runnable(m.Error())))
		}
		err = fmt.Errorf("%s in %s: nothing was changed", count(len(misfits), "value does not fit", "values do not fit"), misfits[0].File)
	}
	c.say("error", err.Error())
	if h, ok := errors.AsType[hinted](err); ok {
		c.hint(h.hint)
	}
}

// mistakes sums problems up.
func mistakes(problems declare.Problems) error {
	var files []string
	for _, p := range problems {
		if !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	return fmt.Errorf("%s in %s: nothing was changed", count(len(problems), "mistake", "mistakes"), strings.Join(files, ", "))
}

// hint writes advice to standard error.
func (c *cli) hint(text string) { c.say("hint", text) }

// say writes a message to standard error, each of its lines with the prefix,
// so that no text from a file can pass for a message of its own. The commands
// that it names can be run as they stand.
func (c *cli) say(what, text string) {
	text = c.runnable(text)
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "\t", " ")
		fmt.Fprintf(c.stderr, "freehold: %s: %s\n", what, visible(line))
	}
}
