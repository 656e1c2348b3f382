// Package store has the shapes of the real one, for the checks' tests.
package store

type Store struct{ path string }

func Open(dir string) (*Store, error) { return &Store{dir}, nil }

func Find(start string) (string, error) { return start, nil }

func Create(dir string) error { return nil }

func (d *Store) Quarantine(name string) (string, error) { return "", nil }

func (d *Store) Path() string { return d.path }

// Drop moves a file to the quarantine.
func (d *Store) Drop(name string) error { return nil }

func Sidecar(owner string) string { return owner + ".json" }
