// Package reader has the shapes of the real one, for the checks' tests.
package reader

type OwnerStatus struct{ Name, File string }

type Provenance struct{ Owner, File string }
