package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// complain writes err to standard error, if there is one. The mistakes of a
// declaration begin with their position, where editors look for it, and so do
// the values of a legacy file that fit no field.
func (c *cli) complain(err error) {
	if err == nil {
		return
	}
	if v, ok := errors.AsType[failure.Verdict](err); ok && v.Says == "" {
		return
	}
	if problems, ok := errors.AsType[declare.Problems](err); ok {
		for _, p := range problems {
			fmt.Fprintln(c.stderr, display.Escape(c.runnable(p.Error())))
		}
		err = mistakes(problems)
	}
	if misfits, ok := errors.AsType[adopt.Misfits](err); ok {
		for _, m := range misfits {
			fmt.Fprintln(c.stderr, display.Escape(c.runnable(m.Error())))
		}
		err = fmt.Errorf("%s in %s: nothing was changed", display.Count(len(misfits), "value does not fit", "values do not fit"), misfits[0].File)
	}
	c.say("error", err.Error())
	if hint := failure.HintOf(err); hint != "" {
		c.hint(hint)
	}
	for _, r := range store.Remedies(err) {
		c.hint(failure.RemedyText(r))
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
	return fmt.Errorf("%s in %s: nothing was changed", display.Count(len(problems), "mistake", "mistakes"), strings.Join(files, ", "))
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
		fmt.Fprintf(c.stderr, "freehold: %s: %s\n", what, display.Escape(line))
	}
}
