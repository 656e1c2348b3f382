// Package failure says how a command ended: the exit status of an error, and the
// hint that goes with the error. It prints nothing.
package failure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/store"
)

var (
	// Negative is wrapped by an error that is a negative answer.
	Negative = errors.New("no")
	// Misused is wrapped by an error that comes from how a command was called.
	Misused = errors.New("misused")
)

// Usage returns an error that says how a call is wrong.
func Usage(format string, args ...any) error {
	return As(fmt.Errorf(format, args...), Misused)
}

// As returns err, which gets the exit status of kind; the text stays the same.
func As(err, kind error) error { return classed{err, kind} }

type classed struct {
	error
	kind error
}

func (c classed) Unwrap() []error { return []error{c.error, c.kind} }

// Hint returns err with advice that is not part of its text.
func Hint(err error, hint string) error { return hinted{err, hint} }

type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// HintOf returns the outermost hint of err, or "".
func HintOf(err error) string {
	if h, ok := errors.AsType[hinted](err); ok {
		return h.hint
	}
	return ""
}

// A Verdict ends a command with a status of its own, such as that of another
// program. If Says is empty, nothing more is to be printed.
type Verdict struct {
	Status int
	Says   string
}

func (v Verdict) Error() string { return v.Says }

// WithRemedies returns the text of err with its remedies, for a place where no hint
// can follow.
func WithRemedies(err error) string {
	text := err.Error()
	for _, r := range store.Remedies(err) {
		text += ": " + RemedyText(r)
	}
	return text
}

// RemedyText returns a remedy in words: a step by hand, a command, or both.
func RemedyText(r store.Remedy) string {
	run, args := r.Tool, r.Args
	if r.Verb == store.VerbInit && len(args) == 1 {
		args = []string{"--instance", args[0]}
	}
	if r.Verb != "" {
		run = slices.Concat([]string{"freehold"}, strings.Fields(string(r.Verb)), args)
	}
	switch {
	case len(run) == 0:
		return r.Note
	case r.Note == "":
		return "run `" + Line(run...) + "`"
	}
	return r.Note + ", or run `" + Line(run...) + "`"
}

// Line joins the words of a command so that a shell takes each as it is.
func Line(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = store.ShellWord(word)
	}
	return strings.Join(quoted, " ")
}
