// Package statedir has the shapes of the real one, for the checks' tests.
package statedir

type Dir struct{ path string }

func Open(dir string) (*Dir, error) { return &Dir{dir}, nil }

func Find(start string) (string, error) { return start, nil }

func Create(dir string) error { return nil }

func (d *Dir) Quarantine(name string) (string, error) { return "", nil }

func (d *Dir) Path() string { return d.path }

// Drop moves a file to the quarantine.
func (d *Dir) Drop(name string) error { return nil }

func Sidecar(owner string) string { return owner + ".json" }
