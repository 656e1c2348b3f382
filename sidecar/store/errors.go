package store

import "errors"

var (
	// ErrFlooded is the cause if the directory of the pending patches holds
	// more than Freehold ever puts there.
	ErrFlooded = errors.New("the directory of pending patches is flooded")
	// ErrInvalidManifest is wrapped by every error that says that the manifest
	// is missing or is not one.
	ErrInvalidManifest = errors.New("invalid manifest")
)

// fault returns an [Error] about path.
func fault(s Status, path string, r Remedy, err error) error {
	return &Error{Status: s, Path: path, Remedy: r, Err: err}
}

// byHand returns the remedy that a person carries out.
func byHand(note string) Remedy { return Remedy{Note: note} }
