// Package failure gives an error its exit status. It prints nothing.
package failure

import (
	"errors"
	"fmt"
	"strings"
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

// A Verdict ends a command with a status of its own, such as that of another
// program. If Says is empty, nothing more is to be printed.
type Verdict struct {
	Status int
	Says   string
}

func (v Verdict) Error() string { return v.Says }

// Line joins the words of a command so that a shell takes each as it is.
func Line(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	return strings.Join(quoted, " ")
}
