package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
)

func TestAChangeIsOneLineWithItsEffect(t *testing.T) {
	at := time.Date(2026, 8, 11, 23, 6, 15, 31e6, time.UTC)
	event := schema.Field{Type: schema.TypeTime, Kind: schema.Event}
	by := func(program string) reader.Provenance { return reader.Provenance{Program: program, ChangedAt: at} }
	reset := func(old, now string) explain.Change {
		return explain.Change{
			Field: "last_context_reset_at", Provenance: by("reset-hook"), Declared: event,
			Value: []byte(`"` + now + `"`), Before: &explain.Change{Value: []byte(`"` + old + `"`)},
		}
	}
	tokens := explain.Change{
		Field: "last_prompt_tokens", Provenance: by("reset-hook"), Declared: schema.Field{Type: schema.TypeUint}, Value: []byte("5"),
		Freshness: reader.Stale, Cause: "last_context_reset_at", Before: &explain.Change{Value: []byte("5"), Freshness: reader.Fresh},
	}
	for _, test := range []struct {
		changes []explain.Change
		want    string
	}{
		{[]explain.Change{tokens, reset("2026-08-11T22:53:57.5Z", "2026-08-11T23:06:15.031Z")},
			"23:06:15  last_context_reset_at  22:53:57 -> 23:06:15  reset-hook   makes last_prompt_tokens stale"},
		{[]explain.Change{reset("2026-08-11T23:06:15Z", "2026-08-11T23:06:15.031Z")},
			"23:06:15  last_context_reset_at  23:06:15.000 -> 23:06:15.031  reset-hook"},
		{[]explain.Change{reset("2026-08-10T23:06:15Z", "2026-08-11T23:06:15.031Z")},
			"23:06:15  last_context_reset_at  2026-08-10T23:06:15Z -> 23:06:15  reset-hook"},
		// The cause is not selected.
		{[]explain.Change{tokens}, "23:06:15  last_prompt_tokens  fresh -> stale  reset-hook"},
	} {
		w := &watch{selection: *newSelection(&cli.Call{}), widest: widths{who: 11}}
		if got := strings.TrimSuffix(ansi.Strip(w.lines(test.changes, at.Add(time.Minute))), "\n"); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
	w := &watch{selection: *newSelection(&cli.Call{})}
	if got := ansi.Strip(w.lines([]explain.Change{tokens}, at.Add(time.Hour))); !strings.Contains(got, "2026-08-11  ") {
		t.Errorf("the time of another day is %s", got)
	}
}
