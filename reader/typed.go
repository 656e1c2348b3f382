package reader

import (
	"context"
	"iter"

	"github.com/freehold-dev/freehold/schema"
)

// A Typed is a [Reader] with views of type V, which generated code declares:
// a struct around a [View]. It is safe for concurrent use.
type Typed[V any] struct {
	r  *Reader
	of func(*View) V
}

// OpenTyped is [OpenAs] for views that of makes. It is for generated code.
func OpenTyped[V any](dir string, built *schema.Declaration, of func(*View) V) (*Typed[V], error) {
	r, err := OpenAs(dir, built)
	if err != nil {
		return nil, err
	}
	return &Typed[V]{r, of}, nil
}

// OpenTypedInstance is [OpenInstance] for views that of makes. It is for
// generated code.
func OpenTypedInstance[V any](dir, id string, built *schema.Declaration, of func(*View) V) (*Typed[V], error) {
	r, err := OpenInstance(dir, id, built)
	if err != nil {
		return nil, err
	}
	return &Typed[V]{r, of}, nil
}

// View returns the state as it stands; see [Reader.View]. With an error it returns
// a V around nil.
func (t *Typed[V]) View(ctx context.Context) (V, error) {
	v, err := t.r.View(ctx)
	return t.of(v), err
}

// Watch yields a view at once and then one after every change; see [Reader.Watch].
// An error comes with a V around nil.
func (t *Typed[V]) Watch(ctx context.Context) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for v, err := range t.r.Watch(ctx) {
			if !yield(t.of(v), err) {
				return
			}
		}
	}
}

// Close releases the directory and ends every Watch. Views stay usable.
func (t *Typed[V]) Close() error { return t.r.Close() }
