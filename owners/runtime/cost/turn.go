package cost

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/cost/internal/costfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// LogVar declares the flag -log.
func LogVar(f *flag.FlagSet, log *string) {
	f.StringVar(log, "log", "", "cost log; if empty, cost-log.jsonl beside the state directory")
}

// Log returns log or, if that is empty, the cost log of the state in dir.
func Log(dir, log string) string {
	return cmp.Or(log, filepath.Join(filepath.Dir(filepath.Clean(dir)), "cost-log.jsonl"))
}

// mostTurns bounds how many sessions' turns are kept: a session that dies never
// ends its turn.
const mostTurns = 256

// Observe commits, when a turn of the session starts, the observed versions of
// the resets and the length of the log. The next Record of the session uses
// them for the rows beyond: an older row says nothing about this turn, even
// with a later time.
func Observe(ctx context.Context, dir, log, session string, o *sidecar.Options) error {
	w, err := costfile.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	defer w.Close()
	r, err := runtime.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	view, err := r.View(ctx)
	if err != nil {
		return err
	}
	seen, err := view.ObserveLastPromptTokens()
	if err != nil {
		return err
	}
	text, err := seen.MarshalText()
	if err != nil {
		return err
	}
	var length uint64
	info, err := os.Stat(log)
	if err == nil {
		length = uint64(info.Size())
	} else if !errors.Is(err, fs.ErrNotExist) { // a session without a cost yet has no log
		return err
	}
	_, err = w.Update(ctx, func(tx costfile.Tx) error {
		tx.Turns().Delete(session) // a turn that begins anew is the youngest
		for len(tx.Turns().Keys()) >= mostTurns {
			tx.Turns().Delete(oldest(tx)) // its session records no prompt at its end
		}
		turn := tx.Turns().Key(session)
		turn.Seen().Set(string(text))
		turn.LogFrom().Set(length)
		return nil
	})
	return err
}

// oldest returns the session of the turn that began first: the incarnation of a
// key is the version of the commit that made the key.
func oldest(tx costfile.Tx) string {
	return slices.MinFunc(tx.Turns().Keys(), func(a, b string) int {
		x, _ := tx.Turns().Ref(a)
		y, _ := tx.Turns().Ref(b)
		return cmp.Or(cmp.Compare(x.Incarnation.Epoch, y.Incarnation.Epoch), cmp.Compare(x.Incarnation.Revision, y.Incarnation.Revision))
	})
}

// turn returns the token and the length of the log from the start of the
// session's turn; the zero token if Observe was not called, or if the log has
// been rotated since.
func turn(view runtime.View, session string, end uint64) (seen runtime.LastPromptTokensSeen, from uint64, err error) {
	at := view.Turns().Key(session)
	text, err := at.Seen().OrUnset("")
	if err != nil {
		return seen, 0, err
	}
	if from, err = at.LogFrom().OrUnset(0); err != nil || from > end {
		return seen, 0, err
	}
	return seen, from, seen.UnmarshalText([]byte(text))
}
