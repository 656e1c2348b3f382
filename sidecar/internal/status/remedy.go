package status

import (
	"slices"
	"strings"
)

// A Verb is the part of Freehold that mends a fault, called like its command.
type Verb string

// The verbs of remedies.
const (
	Abandon    Verb = "done" // an event token, with --abandon
	Accept     Verb = "accept"
	Clear      Verb = "clear"
	Doctor     Verb = "doctor"
	Explain    Verb = "explain"
	Fold       Verb = "fold"
	Init       Verb = "state init"
	Lease      Verb = "lease"
	Prune      Verb = "prune"
	Quarantine Verb = "quarantine"
	Repair     Verb = "state repair"
	Upgrade    Verb = "state upgrade"
)

// A Remedy says how to mend a fault: a verb of Freehold, a program of the
// system, or a step by hand. Beside a Verb or a Tool, Note is the step to try
// first.
type Remedy struct {
	// Verb to run, on the state where the fault is; or empty.
	Verb Verb
	// Args are the operands of Verb: an owner, a field.
	Args []string
	// Tool is a program of the system with its arguments, unquoted, such as
	// chmod 600 FILE; or nil.
	Tool []string
	// Note is a step by hand, a verb phrase with an object: "restore
	// .freehold from a backup"; or empty.
	Note string
}

// IsZero reports whether there is nothing to do.
func (r Remedy) IsZero() bool { return r.Verb == "" && len(r.Tool) == 0 && r.Note == "" }

func (r Remedy) equal(t Remedy) bool {
	return r.Verb == t.Verb && r.Note == t.Note && slices.Equal(r.Args, t.Args) && slices.Equal(r.Tool, t.Tool)
}

// String returns the note, then the verb or the tool with its arguments,
// unquoted, for logs and tests.
func (r Remedy) String() string {
	run := r.Tool
	if r.Verb != "" {
		run = append([]string{string(r.Verb)}, r.Args...)
	}
	text := strings.Join(run, " ")
	if r.Note != "" && text != "" {
		return r.Note + "; or " + text
	}
	return r.Note + text
}

// By returns the remedy that runs verb on args.
func By(verb Verb, args ...string) Remedy { return Remedy{Verb: verb, Args: args} }

// Or returns the remedy with note as the alternative to try first.
func (r Remedy) Or(note string) Remedy {
	r.Note = note
	return r
}

// With returns err with the remedy. The text of err stays the same.
func With(err error, r Remedy) error {
	if err == nil || r.IsZero() {
		return err
	}
	return &remedied{err, r}
}

// A remedied is an error that got a remedy after it was made.
type remedied struct {
	error
	remedy Remedy
}

// Advice returns the remedy in words, for tests.
func (r *remedied) Advice() string { return r.remedy.String() }

func (r *remedied) Unwrap() error { return r.error }
