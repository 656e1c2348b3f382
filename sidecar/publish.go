package sidecar

import (
	"fmt"

	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// A publisher makes a file's next version visible, whole, in one step. Its
// callers hold the file's lock.
type publisher interface {
	// collect removes the files that writers of the file name left behind
	// when they were killed. No other process can be writing: the caller
	// holds the lock.
	collect(name string) error
	// publish replaces the file name by raw. If durable, it returns once
	// the replacement survives power loss. An error means that the file is
	// as it was, unless it wraps ErrIndeterminate. What has been staged is
	// removed, and where that fails too, the next commit collects it.
	publish(name string, raw []byte, durable bool) error
}

// A replace publishes by writing a file beside the target and renaming it over
// the target.
type replace struct {
	dir *statedir.Dir
	// swept is the directory's stamp when nothing of a dead writer was in
	// it, and unswept counts the commits that have relied on that.
	swept   statedir.Stamp
	unswept int
}

// sweepEvery is how many commits in a row may rely on the directory's stamp:
// on older kernels a file that a writer left in the very tick in which this one
// committed does not show in it.
const sweepEvery = 64

// collect implements publisher. Listing a directory costs as much as all else
// that a commit computes, so that it is done only if names have come or gone
// since this writer looked or committed.
func (p *replace) collect(name string) error {
	stamp, err := p.dir.Stamp()
	if err != nil {
		return err
	}
	if p.unswept++; stamp == p.swept && p.unswept < sweepEvery {
		return nil
	}
	if err := p.dir.Collect(name); err != nil {
		return err
	}
	p.swept, p.unswept = stamp, 0
	return nil
}

// publish implements publisher. Of its two steps only the second, which syncs
// the directory, can fail with the new version visible.
func (p *replace) publish(name string, raw []byte, durable bool) error {
	if err := p.dir.Replace(name, raw); err != nil {
		return err
	}
	p.swept, _ = p.dir.Stamp() // the zero stamp means to look next time
	if !durable {
		return nil
	}
	if err := p.dir.Sync(); err != nil {
		return fmt.Errorf("%w: the new version is visible and may not survive a crash: %w", ErrIndeterminate, err)
	}
	return nil
}
