package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
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
	for _, r := range store.Remedies(err) {
		c.hint(remedyText(r))
	}
}

// withRemedies returns the text of err with its remedies, where no hint can follow.
func withRemedies(err error) string {
	text := err.Error()
	for _, r := range store.Remedies(err) {
		text += ": " + remedyText(r)
	}
	return text
}

// remedyText returns a remedy in words: a step by hand, a command, or both.
func remedyText(r store.Remedy) string {
	run := r.Tool
	if r.Verb != "" {
		run = slices.Concat([]string{"freehold"}, strings.Fields(string(r.Verb)), r.Args)
	}
	switch {
	case len(run) == 0:
		return r.Note
	case r.Note == "":
		return "run `" + pasted(run...) + "`"
	}
	return r.Note + ", or run `" + pasted(run...) + "`"
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
