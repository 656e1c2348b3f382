package bench

import (
	"context"
	"errors"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
)

// freeholdState is a state of five owners whose sidecars are as long as
// sidecars get.
type freeholdState struct{ writers []*freehold }

func newFreeholdState(dir string) (*freeholdState, error) {
	s := &freeholdState{}
	d := declaration(schema.Process, owners...) // writes are not timed
	for i, owner := range owners {
		f, err := newFreehold(dir, owner, d)
		if err != nil {
			return nil, err
		}
		s.writers = append(s.writers, f)
		if err := f.fill(); err != nil {
			return nil, err
		}
		for n := range int64(document.MaxRecent) {
			if err := s.change(i, n); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *freeholdState) change(owner int, n int64) error { return s.writers[owner].set(n) }

func (s *freeholdState) close() error {
	var errs []error
	for _, f := range s.writers {
		errs = append(errs, f.writer.Close())
	}
	return errors.Join(errs...)
}

// typedView looks at the fields through typed handles, as generated code does.
type typedView struct {
	*freeholdState
	reader *reader.Reader
	fields []string
}

func newTypedView(dir string) (*typedView, error) {
	s, err := newFreeholdState(dir)
	if err != nil {
		return nil, err
	}
	r, err := reader.Open(dir)
	v := &typedView{freeholdState: s, reader: r}
	for _, owner := range owners {
		v.fields = append(v.fields, fieldOf(owner, measured))
	}
	return v, err
}

func openTypedView(dir string) (viewer, error) { return newTypedView(dir) }

func (v *typedView) sum() (sum int64, err error) {
	view, err := v.reader.View(context.Background())
	if err != nil {
		return 0, err
	}
	for _, field := range v.fields {
		n, err := reader.FieldOf(view, field, schema.Int).Get()
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func (v *typedView) close() error { return errors.Join(v.reader.Close(), v.freeholdState.close()) }

// bareView takes a view and looks at nothing in it before the end.
type bareView struct {
	*typedView
	values [5]int64
}

func openBareView(dir string) (viewer, error) {
	v, err := newTypedView(dir)
	return &bareView{typedView: v}, err
}

func (v *bareView) change(owner int, n int64) error {
	v.values[owner] = n
	return v.typedView.change(owner, n)
}

func (v *bareView) written() (sum int64) {
	for _, n := range v.values {
		sum += n
	}
	return sum
}

func (v *bareView) sum() (int64, error) {
	_, err := v.reader.View(context.Background())
	return v.written(), err
}

func (v *bareView) close() error {
	found, err := v.typedView.sum()
	return errors.Join(err, want(found, v.written()), v.typedView.close())
}
