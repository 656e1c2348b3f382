// Package repair makes anew the lock files and directories that a state has
// lost, as after a copy or a restore of its directory. It does not touch
// sidecars: Accept and Quarantine of package sidecar do.
package repair

import (
	"context"

	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// Remake makes the lock files anew that are missing or are not the ones of
// the manifest, and the directories of pending patches that are missing. It
// takes the directories of claims that are there, with their claims, or makes
// those that are missing. It first takes every lock that is intact and looks for
// holders of the lost ones, and returns an error that wraps [store.Busy] if a
// process uses the state. It returns the names of the files and directories,
// relative to .freehold, that it made or took.
func Remake(ctx context.Context, dir string) (remade []string, err error) {
	return statedir.Remake(ctx, dir)
}

// A KeptFile is a file in the quarantine.
type KeptFile = statedir.KeptFile

// A Quarantined says where a file was moved, and which older ones were removed.
type Quarantined = statedir.Quarantined
