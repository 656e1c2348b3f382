package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func TestEachErrorHasItsExitStatus(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "cost.json", Err: syscall.EACCES}
	for _, test := range []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"unset", reader.ErrUnset, 1},
		{"drift", failure.As(errors.New("2 files differ"), failure.Negative), 1},
		{"forgotten commit", store.Unknown, 1},
		{"foreign", store.Foreign, 3},
		{"invalid", store.Invalid, 3},
		{"unreadable", fmt.Errorf("%w: %w", store.Unreadable, denied), 3},
		{"invalid manifest", store.ErrInvalidManifest, 3},
		{"lost lock", store.Lost, 3},
		{"unsafe", store.Unsafe, 3},
		{"replaced", store.Moved, 3},
		{"not the owner", sidecar.ErrNotOwner, 4},
		{"unknown field", reader.ErrUnknownField, 4},
		{"contradiction", sidecar.ErrDeclaration, 4},
		{"conflict", sidecar.ErrConflict, 4},
		{"fenced", sidecar.ErrFenced, 4},
		{"a write at a key that is not there", sidecar.ErrNoKey, 4},
		{"a read of it", fmt.Errorf("%w: %w", reader.ErrUnset, sidecar.ErrNoKey), 1},
		{"busy", sidecar.ErrBusy, 5},
		{"interrupted while it waited", fmt.Errorf("%w (%w)", sidecar.ErrBusy, context.Canceled), 5},
		{"fenced by a successor that stopped", fmt.Errorf("%w: %w: %w", sidecar.ErrFenced, store.DeadlinePassed, sidecar.ErrBusy), 4},
		{"fenced by a lock file that was replaced", fmt.Errorf("%w: %w", sidecar.ErrFenced, store.Lost), 4},
		{"never signalled", store.Protected, 4},
		{"it did not end in time", store.DeadlinePassed, 5},
		{"interrupted at the fence", fmt.Errorf("%w (%w): %w", store.DeadlinePassed, context.Canceled, sidecar.ErrBusy), 5},
		{"identity changed", store.IdentityChanged, 6},
		{"cannot judge", fmt.Errorf("%w: %w", store.NotJudged, store.ErrTooLarge), 6},
		{"a process that has ended", store.ProcessGone, 9},
		{"nobody holds the lease", store.NoHolder, 9},
		{"patches that are lost", fmt.Errorf("%w: %w", store.Unreadable, store.Lost), 3},
		{"too much deferred", fmt.Errorf("%w: %w", store.Unreadable, store.ErrFlooded), 3},
		{"a patch of a newer release", store.Newer, 3},
		{"a patch that was rejected", store.Rejected, 1},
		{"a damaged record of a lease", fmt.Errorf("%w: %w", sidecar.ErrLeaseRecord, denied), 3},
		{"a shared owner has no lease", store.NoLease, 64},
		{"another program's status", failure.Verdict{Status: 17}, 17},
		{"input or output", denied, 7},
		{"disk full", &fs.PathError{Op: "write", Path: "cost.json", Err: syscall.ENOSPC}, 7},
		{"anything else", errors.New("?"), 7},
		{"indeterminate", fmt.Errorf("%w: %w", sidecar.ErrIndeterminate, denied), 8},
		{"misused", failure.Usage("x"), 64},
		{"bad declaration", declare.Problems{{}}, 64},
		{"bad value", sidecar.ErrValue, 64},
		{"bad legacy value", adopt.Misfits{{}}, 64},
		{"no state", store.NoState, 64},
		{"a state already", store.Exists, 64},
		{"a platform without it", store.Unsupported, 64},
		{"a hint changes nothing", store.WithRemedy(sidecar.ErrBusy, store.Remedy{Note: "wait"}), 5},
		{"several owners, one of them foreign", errors.Join(store.Foreign, store.Invalid), 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.err
			if err != nil {
				err = fmt.Errorf("around: %w", err)
			}
			if got := (&Call{Console: console.Console{Stderr: io.Discard}}).End(err); got != test.want {
				t.Errorf("exit status %d, want %d", got, test.want)
			}
		})
	}
}
