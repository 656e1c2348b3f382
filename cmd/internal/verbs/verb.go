// Package verbs is the table of the commands that write as an owner, and of those
// that a hook reads with. It knows no command-line library, so that a small
// program can have the same verbs; it prints nothing and finds no directories.
package verbs

import (
	"context"
	"io"
	"iter"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// A Verb is one command of the table.
type Verb struct {
	Name     string
	Operands Operands
	Short    string
	Long     string
	Example  string
	Flags    []Flag
	// Acts says that the verb is for the process that started the command, or for
	// that of --for.
	Acts bool
	// Reads says that the verb writes nothing and plays no owner.
	Reads bool

	// check refuses operands before the state is opened, if not nil.
	check func(ctx context.Context, c *Call) error
	// steps makes the patch of a verb that commits.
	steps func(c *Call, d *schema.Declaration) ([]step, error)
	// run does the work of every other verb.
	run func(ctx context.Context, c *Call) (Report, error)
}

// A Flag is an option of a verb, beside those that say where the state is and
// under which name and how patiently the call writes. With Switch it has no value.
type Flag struct {
	Name   string
	Usage  string // the value's name in backquotes
	Switch bool
}

// All yields the verbs, the writing ones first.
func All() iter.Seq[*Verb] {
	return func(yield func(*Verb) bool) {
		for i := range table {
			if !yield(&table[i]) {
				return
			}
		}
	}
}

// A Call is one call of a verb.
type Call struct {
	Verb  *Verb
	Args  []string
	Stdin io.Reader
	// Flags has the values of the flags that were given. That of a switch is
	// "true" or "false".
	Flags map[string]string

	// Open opens the writer of owner, by the manifest alone.
	Open func(ctx context.Context, owner string) (*sidecar.Writer, error)
	// View takes one view of the state.
	View func(ctx context.Context) (*reader.View, error)
	// Declaration reads the declaration of the state.
	Declaration func() (*schema.Declaration, error)
	// Instance chooses the instance of the state.
	Instance func(id string)
	// Warn reports a doubt about the answer.
	Warn func(err error)

	input sidecar.Patch // of apply, read from Stdin
}

// A Report is the answer of a call. Its JSON is that of the value, except of a
// [Raw] one.
type Report interface {
	// Text returns the lines for people; terminal says that a terminal would obey
	// control characters.
	Text(terminal bool) string
}

// A Change is the report of a call that has written and was asked for nothing.
type Change interface {
	Report
	// Line is the change for a terminal.
	Line() string
	// Deferred tells of the pending patch that the change became, or is empty.
	Deferred() string
}

// Run carries out the call. With an error that is an answer, such as a lost
// claim, the report is there too.
func (c *Call) Run(ctx context.Context) (Report, error) {
	if c.Verb.check != nil {
		if err := c.Verb.check(ctx, c); err != nil {
			return nil, err
		}
	}
	if c.Verb.Name == "hook" { // which finds other verbs in the table
		return hook(ctx, c)
	}
	if c.Verb.run != nil {
		return c.Verb.run(ctx, c)
	}
	return c.commit(ctx)
}

// Suits reports whether the operands name declared parts of d, with values that
// these can have.
func (c *Call) Suits(d *schema.Declaration) bool {
	var err error
	switch {
	case c.Verb.Reads:
		whole, ok := d.Joined(c.Args[0])
		if ok && len(c.Args) > 2 {
			_, ok = whole.Member(c.Args[2])
		}
		return ok
	case c.Verb.steps != nil:
		_, err = c.patch(d)
	case len(c.Args) > 1:
		_, err = c.resolve(d, sidecar.Op{Field: c.Args[1], Verb: schema.Verb(c.Verb.Name)})
	}
	return err == nil
}

// given reports whether a switch was given.
func (c *Call) given(name string) bool { return c.Flags[name] == "true" }

// open opens the writer of the first operand. The verb has to suit the field
// that the second operand names.
func (c *Call) open(ctx context.Context) (*sidecar.Writer, error) {
	writer, err := c.Open(ctx, c.Args[0])
	if err != nil {
		return nil, err
	}
	op := sidecar.Op{Field: c.Args[1], Verb: schema.Verb(c.Verb.Name)}
	if _, err := c.resolve(writer.Declaration(), op); err != nil {
		writer.Close()
		return nil, err
	}
	return writer, nil
}

// version returns the version of --if-version.
func (c *Call) version() (v sidecar.Version, err error) {
	if err := v.UnmarshalText([]byte(c.Flags["if-version"])); err != nil {
		return v, failure.Usage("--if-version: %v", err)
	}
	return v, nil
}
