package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxPatch is the most bytes that a patch may have; a sidecar has no more.
	MaxPatch = store.MaxSidecar
	// maxOps is how many operations it may have, and elements a list in it.
	maxOps = schema.MaxElements
)

// readable refuses the operands of set that are no OWNER and no FIELD=VALUE.
func readable(_ context.Context, c *Call) error {
	if strings.Contains(c.Args[0], "=") {
		return failure.Usage("%q is no OWNER: name the owner before its fields", c.Args[0])
	}
	_, err := assignments(c, nil)
	return err
}

// readPatch reads the patch of apply from standard input, strictly: a misspelt
// member would change something else than its author meant.
func readPatch(ctx context.Context, c *Call) (err error) {
	c.input, err = ParsePatch(ctx, c.Stdin)
	return err
}

// ParsePatch reads a patch of at most [MaxPatch] bytes.
func ParsePatch(ctx context.Context, r io.Reader) (sidecar.Patch, error) {
	text, err := ReadAll(ctx, r, MaxPatch)
	if err != nil {
		return nil, fmt.Errorf("read the patch from standard input: %w: nothing was changed; try again", err)
	}
	if len(text) > MaxPatch {
		return nil, failure.Usage("the patch is longer than the %d bytes allowed: divide it", MaxPatch)
	}
	limits := schema.Limits{Depth: store.MaxDepth, Members: schema.MaxKeys, Elements: maxOps}
	if e, ok := errors.AsType[*schema.LimitError](limits.Check(text)); ok {
		return nil, failure.Usage("the patch on standard input: byte %d: %v: make several of it", e.Offset, e)
	}
	patch := make(sidecar.Patch, 0, min(bytes.Count(text, []byte{'{'}), maxOps))
	if err := json.Unmarshal(text, &patch, json.RejectUnknownMembers(true)); err != nil {
		return nil, store.WithRemedy(failure.Usage("the patch on standard input: %s", position(err)), store.Remedy{Verb: "apply", Args: []string{"--help"}})
	}
	if patch == nil {
		return nil, failure.Usage("the patch on standard input is null: write [] for no operations")
	}
	return patch, nil
}

// ReadAll reads at most one byte more than most, until ctx ends: a terminal may
// have no input to give.
func ReadAll(ctx context.Context, r io.Reader, most int) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text := make([]byte, most+1)
		n, err := io.ReadFull(r, text)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		done <- result{text[:n], err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		return r.text, r.err
	}
}

var kinds = map[jsontext.Kind]string{
	jsontext.KindNull: "null", jsontext.KindTrue: "true", jsontext.KindFalse: "false", jsontext.KindNumber: "a number",
	jsontext.KindString: "a string", jsontext.KindBeginObject: "an object", jsontext.KindBeginArray: "an array",
}

// position returns the text of err, an error of the JSON library, in terms of the
// patch: the byte, the place in the array, and the fault there.
func position(err error) string {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		if e.Err != nil {
			return fmt.Sprintf("byte %d, at %q: %v", e.ByteOffset, e.JSONPointer, e.Err)
		}
		return fmt.Sprintf("byte %d, at %q: %s does not belong here", e.ByteOffset, e.JSONPointer, kinds[e.JSONKind])
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("byte %d, at %q: %v", e.ByteOffset, e.JSONPointer, e.Err)
	}
	return err.Error()
}

// standalone are the verbs of commands that are no operations of a patch.
var standalone = map[schema.Verb]bool{"claim": true, "begin": true, "abandon": true, schema.VerbPut: true, "observe": true}

// checkInput returns the error of the first operation without a value, or on a
// field that is not the owner's, with its place in the patch.
func (c *Call) checkInput(d *schema.Declaration) error {
	for i, op := range c.input {
		if op.Field == "" || op.Verb == "" {
			return failure.Usage(`operation %d of the patch: give it both a "field" and an "op"`, i)
		}
		switch {
		case standalone[op.Verb]:
			return failure.Usage("operation %d of the patch: %s is a command and no operation of a patch: run the command", i, op.Verb)
		case op.Value == nil && takesValue(op):
			return failure.Usage(`operation %d of the patch: %s wants a value: add "value"`, i, op.Verb)
		}
		if _, err := d.FieldOf(c.Args[0], op.Field); err != nil {
			return fmt.Errorf("operation %d of the patch: %w", i, c.refused(d, sidecar.Op{Field: op.Field}, err))
		}
		f, err := c.target(d, op)
		if err == nil && op.Value != nil && !takesValue(op) {
			err = failure.Usage(`%s takes no value: leave "value" out`, op.Verb)
		}
		if err == nil && f.Type == schema.TypeTime && string(op.Value) == `"now"` {
			op.Value, err = parse(f, "now")
			c.input[i].Value = op.Value
		}
		if err == nil && op.Value != nil {
			if _, wrong := f.Normalize(op.Value); wrong != nil {
				err = fmt.Errorf("%s of %s: %w: %w", op.Where(), c.Args[0], sidecar.ErrValue, wrong)
			}
		}
		if err != nil {
			return fmt.Errorf("operation %d of the patch: %w", i, err)
		}
	}
	return nil
}

// target returns the declaration of the value that op of a patch writes. Whether
// the sidecar has the key is not known here.
func (c *Call) target(d *schema.Declaration, op sidecar.Op) (schema.Field, error) {
	if op.Key == "" && op.Member == "" {
		return c.resolve(d, op)
	}
	owner, whole := c.Args[0], op
	whole.Key, whole.Member = "", ""
	f, err := d.FieldOf(owner, op.Field)
	switch {
	case err != nil:
		return f, err
	case f.EffectiveKind() != schema.Map:
		return f, failure.Usage(`%s is a %s and has no keys: leave "key" and "member" out`, op.Field, display.Kind(f))
	case op.Key == "":
		return f, failure.Usage(`member %s of %s is at a key: add "key"`, op.Member, op.Field)
	case op.Verb == schema.VerbInsert || op.Verb == schema.VerbDelete:
		return c.resolve(d, whole)
	}
	if f, err = d.ResolveMember(owner, op.Field, op.Member, op.Verb); err != nil {
		return f, c.refused(d, op, err)
	}
	if element, ok := f.Element(); ok && f.EffectiveKind() == schema.Set {
		f = element
	}
	return f, nil
}
