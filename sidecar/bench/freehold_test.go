package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json"
)

// freehold is one owner's writer.
type freehold struct {
	dir    string
	path   string
	owner  string
	writer *sidecar.Writer
}

// openFreehold returns the writer of a sidecar that is as long as sidecars
// get: its fields were written by twelve commits, and others followed until
// the list of recent commits was full.
func openFreehold(dir string) (*freehold, error) {
	f, err := newFreehold(dir, owners[0], declaration(schema.Power, owners[0]))
	if err != nil {
		return nil, err
	}
	if err := f.fill(); err != nil {
		return nil, err
	}
	for n := range int64(document.MaxRecent) {
		if err := f.set(n); err != nil {
			return nil, err
		}
	}
	return f, f.set(firstValue)
}

func newFreehold(dir, owner string, d *schema.Declaration) (*freehold, error) {
	w, err := sidecar.Open(context.Background(), dir, d, owner, &sidecar.Options{Create: true})
	return &freehold{dir: dir, path: filepath.Join(dir, owner+".json"), owner: owner, writer: w}, err
}

// fill writes each field in a commit of its own.
func (f *freehold) fill() error {
	fields, values := columns()
	for i, field := range fields {
		text, err := json.Marshal(values[i])
		if err != nil {
			return err
		}
		if err := f.apply(sidecar.Op{Field: fieldOf(f.owner, field), Verb: schema.VerbSet, Value: text}); err != nil {
			return err
		}
	}
	return nil
}

func (f *freehold) apply(op sidecar.Op) error {
	return f.update(func(tx *sidecar.Tx) error {
		tx.Apply(op)
		return nil
	})
}

// tokensIn is the method that generated code would have for the measured
// field.
func (f *freehold) tokensIn(tx *sidecar.Tx) sidecar.Value[int64] {
	return sidecar.ValueOf(tx, fieldOf(f.owner, measured), schema.Int)
}

func (f *freehold) set(n int64) error {
	return f.update(func(tx *sidecar.Tx) error {
		f.tokensIn(tx).Set(n)
		return nil
	})
}

func (f *freehold) update(fn func(*sidecar.Tx) error) error {
	commit, err := f.writer.Update(context.Background(), fn)
	if err == nil && commit.Outcome != sidecar.Applied {
		err = fmt.Errorf("the commit was %v", commit.Outcome)
	}
	return err
}

// stored returns the value and how many commits the sidecar remembers.
func (f *freehold) stored() (n int64, recent int, err error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return 0, 0, err
	}
	doc, err := document.Decode(text)
	if err != nil {
		return 0, 0, err
	}
	raw, _, _ := doc.Field(fieldOf(f.owner, measured))
	n, err = schema.Int.Decode(raw)
	return n, len(doc.Recent()), err
}

func (f *freehold) finish(n int64) error {
	if err := f.writer.Close(); err != nil {
		return err
	}
	found, recent, err := f.stored()
	if err == nil && recent != document.MaxRecent {
		err = fmt.Errorf("the sidecar remembers %d commits, so it was not as long as meant", recent)
	}
	return errors.Join(err, want(found, n))
}

// typed commits through a typed handle, as generated code does.
type typed struct{ *freehold }

func openTyped(dir string) (contestant, error) {
	f, err := openFreehold(dir)
	return typed{f}, err
}

func (t typed) do(n int64) error { return t.set(n) }

// patched commits an operation that is data.
type patched struct{ *freehold }

func openPatch(dir string) (contestant, error) {
	f, err := openFreehold(dir)
	return patched{f}, err
}

func (p patched) do(n int64) error {
	text, err := schema.Int.Append(nil, n)
	if err != nil {
		return err
	}
	return p.apply(sidecar.Op{Field: fieldOf(p.owner, measured), Verb: schema.VerbSet, Value: text})
}

// hook opens the owner for each commit.
type hook struct{ *freehold }

func openHook(dir string) (contestant, error) {
	f, err := openFreehold(dir)
	if err != nil {
		return nil, err
	}
	return hook{f}, f.writer.Close()
}

func (h hook) do(n int64) error {
	f, err := newFreehold(h.dir, h.owner, h.writer.Declaration())
	if err != nil {
		return err
	}
	return errors.Join(f.set(n), f.writer.Close())
}

// young begins a new state when the sidecar has become long.
type young struct {
	*freehold
	parent string
	states int
	left   int
}

func openYoung(dir string) (contestant, error) {
	y := &young{parent: dir}
	return y, y.renew()
}

func (y *young) renew() error {
	y.states++
	dir := filepath.Join(y.parent, fmt.Sprint(y.states))
	f, err := newFreehold(dir, owners[0], declaration(schema.Power, owners[0]))
	if err != nil {
		return err
	}
	y.freehold, y.left = f, turnOfCommits
	return f.fill()
}

func (y *young) prepare(int64) error {
	if y.left--; y.left >= 0 {
		return nil
	}
	if err := y.writer.Close(); err != nil {
		return err
	}
	return y.renew()
}

func (y *young) do(n int64) error { return y.set(n) }

func (y *young) finish(n int64) error {
	if err := y.writer.Close(); err != nil {
		return err
	}
	found, _, err := y.stored()
	return errors.Join(err, want(found, n))
}
