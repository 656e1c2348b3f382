package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

const (
	// maxPatch is the most bytes that a patch may have; a sidecar has no more.
	maxPatch = document.MaxSize
	// maxOps is how many operations it may have, and elements a list in it.
	maxOps = schema.MaxElements
)

func newApply(c *cli) *cobra.Command {
	w := &writing{acting: acting{cli: c}}
	cmd := c.command(&cobra.Command{
		Use:   "apply OWNER",
		Short: "commit a JSON patch from standard input",
		Long: `Read a JSON array of operations from standard input and carry all of them out,
in order, as OWNER and in one commit. Each is an object of "field", "op" and
"value", with nothing else in it but, for a map, "key", "member" and "at", and
for a field that depends on others "seen", a token that observe printed:

  [{"field": "context_cleared", "op": "set", "value": true},
   {"field": "note", "op": "clear"},
   {"field": "turns", "op": "add", "value": 1},
   {"field": "labels", "op": "insert", "value": "urgent"},
   {"field": "skills", "op": "set", "key": "deploy", "member": "pinned", "value": true},
   {"field": "skills", "op": "delete", "key": "review"}]

op is set or clear for a field of kind value, add for a counter, raise for a
max, lower for a min, and insert or remove for an element of a set. So it is for
the members that a map has at a key; of a map with one value at each key,
"member" is left out. insert and delete without "member" and "value" are for the
key itself. "at" is the incarnation of the key that is meant: the version of the
commit that created it; if another is there by now, that is a conflict. Values
are as they stand in the sidecar: decimals, instants and durations are strings.`,
		Example: `  echo '[{"field":"context_cleared","op":"set","value":true}]' | freehold apply reset`,
		Args:    operands(1, 1, "an OWNER, and a patch on standard input"),
	}, func(ctx context.Context, args []string) error {
		patch, err := readPatch(ctx, c.stdin)
		if err != nil {
			return err
		}
		return w.commit(ctx, args[0], func(d *schema.Declaration) (sidecar.Patch, error) {
			return patch, checkPatch(d, args[0], patch)
		})
	})
	w.flags(cmd)
	w.sight.flags(cmd)
	w.completes(cmd, completeOwner)
	return cmd
}

// readPatch reads a patch strictly: a misspelt member would change something
// else than its author meant.
func readPatch(ctx context.Context, r io.Reader) (sidecar.Patch, error) {
	text, err := readAll(ctx, r, maxPatch)
	if err != nil {
		return nil, fmt.Errorf("read the patch from standard input: %w: nothing was changed; try again", err)
	}
	if len(text) > maxPatch {
		return nil, usage("the patch is longer than the %d bytes allowed: divide it", maxPatch)
	}
	limits := schema.Limits{Depth: document.MaxDepth, Members: schema.MaxKeys, Elements: maxOps}
	if e, ok := errors.AsType[*schema.LimitError](limits.Check(text)); ok {
		return nil, usage("the patch on standard input: byte %d: %v: make several of it", e.Offset, e)
	}
	patch := make(sidecar.Patch, 0, min(bytes.Count(text, []byte{'{'}), maxOps))
	if err := json.Unmarshal(text, &patch, json.RejectUnknownMembers(true)); err != nil {
		return nil, hinted{usage("the patch on standard input: %s", position(err)), "see `freehold apply --help` for what a patch looks like"}
	}
	if patch == nil {
		return nil, usage("the patch on standard input is null: write [] for no operations")
	}
	return patch, nil
}

// readAll reads no more than most bytes and one, and gives up when ctx does:
// nobody may be typing at the other end.
func readAll(ctx context.Context, r io.Reader, most int) ([]byte, error) {
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

// position returns what err, an error of the JSON library, says in terms of the
// patch: the byte and the place in the array, and what is wrong there.
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

// checkPatch reports the first operation on a field that is not owner's, by
// its place in the patch.
func checkPatch(d *schema.Declaration, owner string, patch sidecar.Patch) error {
	for i, op := range patch {
		if op.Field == "" || op.Verb == "" {
			return usage(`operation %d of the patch: give it both a "field" and an "op"`, i)
		}
		if op.Value == nil && wantsOperand(op) {
			return usage(`operation %d of the patch: %s wants a value: add "value"`, i, op.Verb)
		}
		if _, err := lookup(d, owner, op.Field, "apply"); err != nil {
			return fmt.Errorf("operation %d of the patch: %w", i, err)
		}
	}
	return nil
}

// wantsOperand reports whether op has no meaning without a value.
func wantsOperand(op sidecar.Op) bool {
	switch op.Verb {
	case sidecar.VerbClear, sidecar.VerbDelete:
		return false
	case sidecar.VerbInsert:
		return op.Key == ""
	}
	return true
}
