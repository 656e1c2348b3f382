// Package demo plays the scenes of `freehold demo`: lost updates, an overtaken
// measurement, the successor of a daemon and, where Go is, a write that does not
// compile. Each scene runs real processes, the first three on shared files and then
// with Freehold, and every figure is measured in that run. The demo is no benchmark,
// and the losses of the old way differ from run to run.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
)

// ErrBroken is returned if Freehold has not kept a promise that a scene shows.
var ErrBroken = errors.New("a promise is broken")

// Options say how to play.
type Options struct {
	// Self is the file of the freehold program.
	Self string
	// Print prints lines of the story, with colours. If nil, nothing is printed.
	Print func(text string) error
}

// A Report holds the measurements of all scenes.
type Report struct {
	Updates Updates `json:"updates"`
	Guard   Guard   `json:"guard"`
	Retire  Retire  `json:"retire"`
	Compile Compile `json:"compile"`
}

var scenes = []func(context.Context, *stage, *Report){playUpdates, playGuard, playRetire, playCompile}

// patience bounds a scene, which takes about a second.
const patience = time.Minute

// Play plays all scenes in a temporary directory and removes the directory. It
// returns an error that wraps [ErrBroken] after the first scene in which
// Freehold did not keep its promise; the directory then stays, and the error
// names the directory. The report is never nil.
func Play(ctx context.Context, o Options) (*Report, error) {
	report := &Report{}
	dir, err := os.MkdirTemp("", "freehold-demo-")
	if err != nil {
		return report, err
	}
	err = play(ctx, newStage(dir, o), report)
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case errors.Is(err, ErrBroken):
		return report, fmt.Errorf("%w; the files are kept in %s", err, dir)
	}
	return report, errors.Join(err, os.RemoveAll(dir))
}

func play(ctx context.Context, s *stage, report *Report) error {
	began := time.Now()
	s.tell(cli.Strong.Render("Freehold demo: three accidents with state that programs share"))
	s.furnish(ctx)
	for _, scene := range scenes {
		ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("a scene took longer than %v", patience))
		scene(ctx, s, report)
		if s.err != nil && ctx.Err() != nil {
			s.err = context.Cause(ctx)
		}
		cancel()
	}
	s.tell(fmt.Sprintf("\nAll of this was measured just now, in %.1f seconds.", time.Since(began).Seconds()))
	return s.err
}
