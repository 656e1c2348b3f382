// Package store reads one state directory, one way: the manifest, the owners
// with their pending patches, the claims, and the files with their roles. An
// error is an [Error]: a status, a place, and a remedy as a value.
//
// It does not protect the state from other programs of the same user. The
// sums in the files show their edits. A file is never read through a symbolic
// link, a named pipe, a device or a mount, and a directory only if no other
// user could replace it.
package store

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// A Store is an open state directory. Its methods are safe for concurrent use.
type Store struct{ dir *statedir.Dir }

// Open opens the state directory path. It returns an error that wraps
// [NoState] if path is none, and [Unsafe] if it belongs to another user, if
// others may write in it or could put another directory in its place, or if
// its file system cannot carry locks; path itself may not be a symbolic link.
func Open(path string) (*Store, error) { return opened(statedir.Open(path)) }

// OpenInstance is [Open] for the instance id of the state in dir. It returns an
// error that wraps [schema.ErrInstance] if id cannot be one.
func OpenInstance(dir, id string) (*Store, error) { return opened(statedir.OpenInstance(dir, id)) }

func opened(dir *statedir.Dir, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{dir}, nil
}

// On returns the store of an open directory. It is for packages below sidecar.
func On(dir *statedir.Dir) *Store { return &Store{dir} }

// Close closes the directory.
func (s *Store) Close() error { return s.dir.Close() }

// Path returns the directory's absolute path.
func (s *Store) Path() string { return s.dir.Path() }

// Unmoved returns an error that wraps [Moved] if the path no longer names the
// directory. It allocates nothing without an error.
func (s *Store) Unmoved() error { return s.dir.Unmoved() }

// Manifest reads the state's manifest. It returns an error that wraps
// [ErrInvalidManifest] if it cannot be read.
func (s *Store) Manifest() (*schema.Manifest, error) { return s.dir.Manifest() }

// ManifestText reads the manifest's bytes into buf, growing it if needed.
func (s *Store) ManifestText(buf []byte) ([]byte, error) { return s.dir.ManifestText(buf) }

// SameManifest reports whether the manifest has the bytes known. It returns
// spare, which it grows if needed.
func (s *Store) SameManifest(known, spare []byte) (bool, []byte) {
	return s.dir.SameManifest(known, spare)
}

// ParseManifest is [schema.ParseManifest] with the file's name in its errors.
// It returns an error that wraps [Misplaced] if the manifest is another
// instance's.
func (s *Store) ParseManifest(text []byte) (*schema.Manifest, error) {
	return s.dir.ParseManifest(text)
}

// Find returns the nearest state directory from start upward. It returns an
// error that wraps [NoState] if there is none.
func Find(start string) (string, error) { return statedir.Find(start) }

// Create makes dir, and the missing directories above it, a state directory for
// the declaration d, or the directory of its instances. It returns an error
// that wraps [Exists] if dir is one already. Of many processes that create one
// state at once, exactly one does; a killed one leaves nothing that another
// takes for a state.
func Create(dir string, d *schema.Declaration) error { return statedir.Create(dir, d) }

// CreateInstance makes the instance id of the state in dir, which is declared
// by d, and dir too if it is missing. It returns an error that wraps [Exists]
// if the instance is there. One of many processes does it.
func CreateInstance(dir, id string, d *schema.Declaration) error {
	return statedir.CreateInstance(dir, id, d)
}

// An Instance is a directory that has the name of an instance.
type Instance = statedir.Instance

// Instances lists the instances in the directory dir, by the names of their
// directories. It returns an error that wraps [NoInstances] if dir is a state
// without instances, and [NoState] if nothing says that there are instances.
func Instances(dir string) ([]Instance, error) { return statedir.Instances(dir) }

// HoldsInstances reports whether one instance stands in the directory path. It
// looks at no more of them than it must.
func HoldsInstances(path string) bool { return statedir.HoldsInstances(path) }

// GatheringIn returns the record of the directory dir that holds instances. The
// error wraps [NoState], or [NoInstances] if dir is a state without any.
func GatheringIn(dir string) (statedir.Gathering, error) { return statedir.GatheringIn(dir) }

// FileSystem returns the name of the file system of path, and whether no state
// is kept on it.
func FileSystem(path string) (name string, refused bool) { return dir.FileSystem(path) }
