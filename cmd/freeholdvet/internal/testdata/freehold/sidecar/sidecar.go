// Package sidecar has the shapes of the real one, for the checks' tests.
package sidecar

import "context"

type Options struct{ Create bool }

type Version struct{ Epoch, Revision uint64 }

type Commit struct{ Version Version }

type Writer struct{ dir string }

func Open(ctx context.Context, dir, owner string, o *Options) (*Writer, error) {
	return &Writer{dir}, nil
}

func (w *Writer) Update(ctx context.Context, fn func(*Tx) error) (Commit, error) {
	return Commit{}, fn(&Tx{})
}

func (w *Writer) Close() error { return nil }

type Op struct{ Field string }

type Tx struct{ changes []Op }

func (tx *Tx) Apply(op Op) { tx.changes = append(tx.changes, op) }

type Value[T any] struct{ tx *Tx }

func ValueOf[T any](tx *Tx, field string) Value[T] { return Value[T]{tx} }

func (v Value[T]) Set(value T) { v.tx.Apply(Op{}) }

type Entry struct{ tx *Tx }

func ValueIn[T any](e Entry, member string) Value[T] { return Value[T]{e.tx} }

type Accepted struct{ Commit }

func Accept(ctx context.Context, dir, owner string, o *Options) (Accepted, error) {
	return Accepted{}, nil
}

func Create(dir string) error { return nil }

func Quarantine(ctx context.Context, dir, owner string, o *Options) (path string, err error) {
	return "", nil
}

func Resolve(ctx context.Context, dir, owner string, v Version) (bool, error) { return false, nil }
