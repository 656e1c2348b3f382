package runtime_test

import (
	"errors"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/google/go-cmp/cmp"
)

// The file that this state replaces is adopted in full: every field of it has
// an owner but updated_at, which each owner has of its own, as written_at.
func TestTheLegacyFileIsAdoptedInFull(t *testing.T) {
	dir := runtimetest.State(t)
	legacy, err := adopt.Read(t.Context(), "testdata/legacy-runtime.json")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := legacy.Plan(runtime.Declaration())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]adopt.Place{{Pointer: "/updated_at"}}, plan.Unowned); diff != "" {
		t.Errorf("unowned (-want +got):\n%s", diff)
	}
	if len(plan.Unset) != 8 {
		t.Errorf("unset: %v", plan.Unset)
	}
	if _, err := plan.Apply(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	r, err := runtime.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	is(t, "version", v.LayoutVersion(), 1)
	is(t, "session_state", v.SessionState(), "in_progress")
	is(t, "session_id", v.SessionID(), "S-042")
	is(t, "created_at", v.CreatedAt(), instant(t, "2026-08-10T07:02:11Z"))
	is(t, "runtime_mode", v.RuntimeMode(), "tmux")
	is(t, "tmux_session", v.TmuxSession(), "agent-proj")
	is(t, "transition_mode", v.TransitionMode(), "idle")
	is(t, "last_error", v.LastError(), "unclean_shutdown")
	is(t, "restart_reason", v.RestartReason(), runtime.RestartReasonPaneFrozen())
	is(t, "last_shell_snapshot_at", v.LastShellSnapshotAt(), instant(t, "2026-08-11T02:00:07.118Z"))
	is(t, "last_raw_archive_at", v.LastRawArchiveAt(), instant(t, "2026-08-09T02:00:09.440Z"))
	is(t, "opened_at", v.OpenedAt(), instant(t, "2026-08-11T07:51:30.902Z"))
	is(t, "opened_transcript", v.OpenedTranscript(), "0b7c1c1e-7d5c-4c34-9a55-0f1f4a7d9b21")
	is(t, "context_cleared", v.ContextCleared(), false)
	is(t, "last_context_reset_at", v.LastContextResetAt(), instant(t, "2026-08-11T09:12:44.031Z"))
	unset(t, "transition", v.Transition())
	unset(t, "transition_target", v.TransitionTarget())
	unset(t, "transition_started_at", v.TransitionStartedAt())
	unset(t, "shutdown_requested_at", v.ShutdownRequestedAt())
	unset(t, "shutdown_completed_at", v.ShutdownCompletedAt())
	unset(t, "closed_at", v.ClosedAt())
	unset(t, "waiting_reason", v.WaitingReason())
	unset(t, "waiting_since", v.WaitingSince())
}

func is[T comparable](t *testing.T, name string, f reader.Field[T], want T) {
	t.Helper()
	if got, err := f.Get(); err != nil || got != want {
		t.Errorf("%s is %v (%v), want %v", name, got, err, want)
	}
}

func unset[T any](t *testing.T, name string, f reader.Field[T]) {
	t.Helper()
	if got, err := f.Get(); !errors.Is(err, reader.ErrUnset) {
		t.Errorf("%s is %v (%v), want unset", name, got, err)
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}
