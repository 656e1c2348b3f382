package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxInput bounds the input of a hook in bytes, and inputWait its time.
	maxInput  = 16 << 20
	inputWait = 10 * time.Second
	// reference begins a value that comes from the input.
	reference = "@json:"
)

// A hookInput is the JSON object that the host of a hook writes.
type hookInput map[string]jsontext.Value

// readInput reads the input of a hook. A hook that names no part of it does without.
func readInput(ctx context.Context, r io.Reader) (hookInput, error) {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, nil
		}
	}
	ctx, stop := context.WithTimeout(ctx, inputWait)
	defer stop()
	text, err := ReadAll(ctx, r, maxInput)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the input of the hook: %w: nothing was changed; let the host close the standard input", err)
	case len(text) > maxInput:
		return nil, failure.Usage("the input of the hook is longer than the %d bytes allowed: let the host write less", maxInput)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, nil
	}
	var input hookInput
	if err := json.Unmarshal(text, &input, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, failure.Usage("the input of the hook: %s: let the host write a JSON object", position(err))
	}
	return input, nil
}

// value returns the part of the input at a path of names with dots between.
func (in hookInput) value(path string) (jsontext.Value, error) {
	object := in
	for {
		if whole, ok := object[path]; ok && whole.Kind() != jsontext.KindNull { // a name may have dots
			var text string
			if whole.Kind() != jsontext.KindString {
				return bytes.ToValidUTF8(whole, []byte("\ufffd")), nil
			}
			if err := json.Unmarshal(whole, &text, jsontext.AllowInvalidUTF8(true)); err != nil {
				return nil, err
			}
			return json.Marshal(text)
		}
		name, rest, more := strings.Cut(path, ".")
		below, ok := object[name]
		var next hookInput
		if !more || !ok || json.Unmarshal(below, &next, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
			return nil, failure.Usage("the input of the hook has no %q: name a part that it has", path)
		}
		object, path = next, rest
	}
}

// text is value as the text of an operand.
func (in hookInput) text(path string) (string, error) {
	raw, err := in.value(path)
	if err != nil || raw.Kind() != jsontext.KindString {
		return string(raw), err
	}
	var text string
	err = json.Unmarshal(raw, &text)
	return text, err
}

// hook carries out the operations of a hook in one commit, and reads fields.
func hook(ctx context.Context, c *Call) (Report, error) {
	r, err := c.hook(ctx)
	if err != nil && c.given("fail-open") {
		c.Warn(err)
		return envReport{}, nil
	}
	return r, err
}

func (c *Call) hook(ctx context.Context) (Report, error) {
	owner, owned := c.Flags["owner"]
	if len(c.Args) > 0 && !owned {
		return nil, failure.Usage("the hook writes as no owner: add --owner OWNER")
	}
	input, err := readInput(ctx, c.Stdin)
	if err != nil {
		return nil, err
	}
	if from, ok := c.Flags["instance-from"]; ok {
		id, err := input.text(from)
		if err != nil {
			return nil, err
		}
		c.Instance(id)
	}
	var asked Report = envReport{}
	if len(c.Args) > 0 {
		if err := c.operate(ctx, owner, input); err != nil {
			return nil, err
		}
	}
	if names := c.Flags["get"]; names != "" {
		asked, err = c.several(ctx, strings.Split(names, ","), c.format("env"), true)
	}
	return asked, err
}

// operate commits the operations of the operands.
func (c *Call) operate(ctx context.Context, owner string, input hookInput) error {
	writer, err := c.Open(ctx, owner)
	if err != nil {
		return err
	}
	defer writer.Close()
	var patch sidecar.Patch
	whole := *c
	whole.Args = []string{owner}
	for _, operand := range c.Args {
		part := whole
		if strings.HasPrefix(operand, "[") {
			if part.input, err = ParsePatch(ctx, strings.NewReader(operand)); err != nil {
				return err
			}
			for i, op := range part.input {
				var text string
				if json.Unmarshal(op.Value, &text) != nil {
					continue
				}
				if path, ok := strings.CutPrefix(text, reference); ok {
					if part.input[i].Value, err = input.value(path); err != nil {
						return err
					}
				}
			}
			part.Verb = find("apply")
		} else {
			name, text, err := assignment(operand, "FIELD")
			if err != nil {
				return err
			}
			if path, ok := strings.CutPrefix(text, reference); ok {
				if text, err = input.text(path); err != nil {
					return err
				}
			}
			f, err := writer.Declaration().FieldOf(owner, name)
			verb := find("set")
			if err == nil && len(f.Verbs()) > 0 && find(string(f.Verbs()[0])) != nil {
				verb = find(string(f.Verbs()[0]))
			}
			part.Verb, part.Args = verb, []string{owner, name, text}
			if verb.Name == "set" {
				part.Args = []string{owner, name + "=" + text}
			}
		}
		more, err := part.patch(writer.Declaration())
		if err != nil {
			return err
		}
		patch = append(patch, more...)
	}
	if _, err := whole.addSeen(patch, writer.Declaration().Owners[owner]); err != nil {
		return err
	}
	commit, err := writer.Update(ctx, func(tx *sidecar.Tx) error {
		carryOut(tx, patch)
		return nil
	})
	if err == nil && commit.Outcome == sidecar.Deferred {
		c.Warn(fmt.Errorf("owner %s: deferred patch %s: views show it, and the next commit folds it", owner, commit.Version.Nonce))
	}
	return err
}

// find returns the verb of the table, or nil.
func find(name string) *Verb {
	if i := slices.IndexFunc(table, func(v Verb) bool { return v.Name == name }); i >= 0 {
		return &table[i]
	}
	return nil
}

// format returns the value of --format.
func (c *Call) format(otherwise string) string {
	if format, ok := c.Flags["format"]; ok {
		return format
	}
	return otherwise
}

// An envReport is the answer about several fields.
type envReport struct {
	fields map[string]jsontext.Value
	text   string
}

// Raw returns the JSON of the answer: an object, in which an unset field is null.
func (r envReport) Raw() jsontext.Value {
	if r.fields == nil {
		return jsontext.Value("{}")
	}
	text, _ := json.Marshal(r.fields, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	return text
}

func (r envReport) Text(bool) string { return r.text }

// several reads fields of one snapshot. An unset one is an error, unless lenient or
// with a default.
func (c *Call) several(ctx context.Context, fields []string, format string, lenient bool) (Report, error) {
	if !slices.Contains([]string{"env", "json", "raw"}, format) {
		return nil, failure.Usage("--format %.40q: the formats are env, json and raw: choose one", format)
	}
	view, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	r := envReport{fields: map[string]jsontext.Value{}}
	var b strings.Builder
	for _, name := range fields {
		raw, f, err := c.value(view, name)
		if lenient && errors.Is(err, reader.ErrUnset) {
			raw, err = nil, nil
		}
		if err != nil {
			return nil, err
		}
		text := ""
		if r.fields[name] = raw; raw != nil {
			text = plain(f, raw)
		}
		switch {
		case format == "env" && strings.Contains(text, "\x00"):
			return nil, failure.Usage("field %s has a NUL, which no variable of a shell can have: take --format json", name)
		case format == "env":
			fmt.Fprintf(&b, "%s='%s'\n", name, strings.ReplaceAll(text, "'", `'\''`))
		default:
			b.WriteString(text + "\n")
		}
	}
	if r.text = b.String(); format == "json" {
		r.text = string(r.Raw()) + "\n"
	}
	return r, nil
}
