package bench

import (
	"context"
	"errors"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
)

// counted is the counter that an owner has beside its twelve fields.
const counted = "count"

func createFreehold(dir string, owners []string) error {
	d := declaration(schema.Power, owners...)
	for _, owner := range owners {
		d.Owners[owner].Fields[fieldOf(owner, counted)] = schema.Field{Type: schema.TypeInt, Kind: schema.Counter}
	}
	for _, owner := range owners {
		f, err := newFreehold(dir, owner, d)
		if err != nil {
			return err
		}
		if err := f.fill(); err != nil {
			return err
		}
		for n := range int64(document.MaxRecent) { // until the sidecar is as long as sidecars get
			if err := f.set(n); err != nil {
				return err
			}
		}
		if err := f.writer.Close(); err != nil {
			return err
		}
	}
	return nil
}

func addFreehold(dir, owner string) (add, finish func() error, err error) {
	r, err := reader.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	v, err := r.View(context.Background())
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	f, err := newFreehold(dir, owner, v.Declaration())
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, nil, err
	}
	return func() error {
		return f.update(func(tx *sidecar.Tx) error {
			sidecar.CounterOf(tx, fieldOf(owner, counted), schema.Int).Add(1)
			return nil
		})
	}, f.writer.Close, nil
}

func totalFreehold(dir string, owners []string) (sum int64, err error) {
	r, err := reader.Open(dir)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	v, err := r.View(context.Background())
	for _, owner := range owners {
		n, err := reader.FieldOf(v, fieldOf(owner, counted), schema.Int).OrUnset(0)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, err
}
