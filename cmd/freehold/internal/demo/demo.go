// Package demo is the story that `freehold demo` tells: it runs an agent's
// real hooks as concurrent processes, first as everybody writes them and then
// through Freehold, and counts what is lost; it lets the Go toolchain refuse a
// trespasser; and it shows the view that is left. It is no benchmark, and what
// it counts the old way differs from run to run.
//
// Each act is a file of mechanics that fills its part of the [Report]; what
// the audience reads is in story.go.
package demo

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrBroken is returned if Freehold has not kept a promise: an update is
	// lost, or the toolchain let a trespasser in.
	ErrBroken = errors.New("a promise is broken")
	// ErrElsewhere is returned if the demo cannot be played here: it needs the
	// source of Freehold and the Go toolchain.
	ErrElsewhere = errors.New("the demo cannot be played here")
)

// Options say how to play. Only Self is needed.
type Options struct {
	// Self is the file of the freehold program. The demo starts copies of it.
	Self string
	// From is a directory in the module of Freehold. If empty, it is the
	// working directory.
	From string
	// Print writes the next lines of the story. If nil, nobody reads it.
	Print func(text string) error
	// Visible makes text harmless to a terminal. If nil, text stays as it is.
	Visible func(text string) string
	// Colour allows Print's text to have colours.
	Colour bool
	// Width is how many columns a line has at most, of those that have blanks
	// to break them at. If zero, or more than 80, it is 80.
	Width int

	// For the tests of the demo itself: tamper spoils the state of the hooks
	// after so many waves of calls, and spoil another state before the demo
	// looks what is in it.
	tamper func(waves int, state string) error
	spoil  func(state string) error
}

// An act is one part of the story. It returns an error that wraps [ErrBroken]
// if Freehold has not done what the act is there to show.
type act func(ctx context.Context, s *stage) error

var acts = []act{playOldWay, playFreehold, playLatch, playCount, playRefusals, playView}

// Play plays all acts. The report holds what was found so far, also after an
// error. The directory that it names is kept; the module is not touched.
func Play(ctx context.Context, o Options) (*Report, error) {
	s, err := setUp(ctx, o)
	if err != nil {
		return &Report{}, interrupted(ctx, err)
	}
	for _, play := range acts {
		if err := play(ctx, s); err != nil {
			return s.report, fmt.Errorf("%w; everything is kept in %s", interrupted(ctx, err), s.dir)
		}
	}
	return s.report, nil
}

// interrupted returns why the demo ended: if it was told to, what went wrong
// then is no news.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	return err
}
