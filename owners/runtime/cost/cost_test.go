package cost_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/cost"
	"github.com/freehold-dev/freehold/owners/runtime/runtimetest"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/shopspring/decimal"
)

const realLog = "../testdata/cost-log.jsonl"

func view(t *testing.T, dir string) runtime.View {
	t.Helper()
	r, err := runtime.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func record(t *testing.T, dir, log string) cost.Recorded {
	t.Helper()
	rec, err := cost.Record(t.Context(), dir, log, "S-042", nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// logOf writes a log of the test's own.
func logOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cost-log.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// begin begins a turn of the session, before anything is in the log.
func begin(t *testing.T, dir, log string) {
	t.Helper()
	if err := cost.Observe(t.Context(), dir, log, "S-042", nil); err != nil {
		t.Fatal(err)
	}
}

func TestRecordSumsTheRealLogExactly(t *testing.T) {
	dir := runtimetest.State(t)
	begin(t, dir, filepath.Join(t.TempDir(), "none yet"))
	record(t, dir, realLog)
	v := view(t, dir)
	total, err := v.TotalUSD().Get()
	if want := decimal.RequireFromString("16.558197"); err != nil || !total.Equal(want) {
		t.Errorf("total %v (%v), want %v", total, err, want)
	}
	if tokens, err := v.LastPromptTokens().Get(); err != nil || tokens != 556_415 {
		t.Errorf("last prompt of %d tokens (%v), want 556415", tokens, err)
	}
	want := time.Date(2026, 8, 11, 9, 36, 54, 0, time.UTC)
	if at, err := v.LastPromptObservedAt().Get(); err != nil || !at.Equal(want) {
		t.Errorf("observed at %v (%v), want %v", at, err, want)
	}
	again := record(t, dir, realLog)
	if again.Outcome != sidecar.Unchanged || again.Bytes != 0 {
		t.Errorf("a second reading of the same log: %+v, want unchanged", again)
	}
}

func TestRecordsAtTheSameTimeCountEachRowOnce(t *testing.T) {
	dir := runtimetest.State(t)
	text, err := os.ReadFile(realLog)
	if err != nil {
		t.Fatal(err)
	}
	path := logOf(t, "")
	log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var wg sync.WaitGroup
	for line := range strings.Lines(string(text)) {
		if _, err := log.WriteString(line); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if _, err := cost.Record(t.Context(), dir, path, "S-042", &sidecar.Options{Wait: time.Minute}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := decimal.RequireFromString("16.558197")
	if total, err := view(t, dir).TotalUSD().Get(); err != nil || !total.Equal(want) {
		t.Errorf("total %v (%v), want %v", total, err, want)
	}
}

func TestRecordIgnoresSubagentsAndOtherSessions(t *testing.T) {
	dir := runtimetest.State(t)
	begin(t, dir, filepath.Join(t.TempDir(), "none yet"))
	record(t, dir, logOf(t, strings.Join([]string{
		`{"timestamp":"2026-08-11T08:00:00Z","session_id":"S-042","last_call_prompt_tokens":1,"estimated_cost_usd":0.1}`,
		`{"timestamp":"2026-08-11T08:01:00Z","session_id":"S-042","last_call_prompt_tokens":2,"estimated_cost_usd":0.2,"subagent":true}`,
		`{"timestamp":"2026-08-11T08:02:00Z","session_id":"S-007","last_call_prompt_tokens":3,"estimated_cost_usd":0.3}`,
		"",
	}, "\n")))
	v := view(t, dir)
	if tokens, err := v.LastPromptTokens().Get(); err != nil || tokens != 1 {
		t.Errorf("last prompt of %d tokens (%v), want the session's own 1", tokens, err)
	}
	if total, err := v.TotalUSD().Get(); err != nil || total.String() != "0.6" {
		t.Errorf("total %v (%v), want 0.6: others cost money too", total, err)
	}
}

func TestRecordLeavesAHalfWrittenLineForLater(t *testing.T) {
	dir := runtimetest.State(t)
	row := `{"timestamp":"2026-08-11T08:00:00Z","session_id":"S-042","last_call_prompt_tokens":1,"estimated_cost_usd":0.5}`
	path := logOf(t, row+"\n"+row[:40])
	if rec := record(t, dir, path); rec.Bytes != uint64(len(row)+1) {
		t.Errorf("took %d bytes, want %d", rec.Bytes, len(row)+1)
	}
	if err := os.WriteFile(path, []byte(row+"\n"+row+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	record(t, dir, path)
	if total, err := view(t, dir).TotalUSD().Get(); err != nil || total.String() != "1" {
		t.Errorf("total %v (%v), want 1", total, err)
	}
}

func TestRecordStartsOverWhenTheLogWasRotated(t *testing.T) {
	dir := runtimetest.State(t, runtimetest.LogOffset(1_000_000))
	row := `{"timestamp":"2026-08-11T08:00:00Z","session_id":"S-042","estimated_cost_usd":0.5}` + "\n"
	record(t, dir, logOf(t, row))
	if offset, err := view(t, dir).LogOffset().Get(); err != nil || offset != uint64(len(row)) {
		t.Errorf("offset %d (%v), want %d", offset, err, len(row))
	}
}

func TestRecordSkipsABadLineAndNamesItsPlace(t *testing.T) {
	good := `{"timestamp":"2026-08-11T08:00:00Z","session_id":"S-042","estimated_cost_usd":0.5}` + "\n"
	for name, tc := range map[string]struct{ line, says string }{
		"no JSON":      {"oops\n", "invalid character 'o'"},
		"torn":         {good[:40] + good, "invalid character"},
		"empty":        {"\n", "EOF"},
		"zeros":        {strings.Repeat("\x00", 512) + "\n", `'\x00'`},
		"no timestamp": {"{}\n", "no timestamp"},
		"no instant":   {`{"timestamp":"9999-12-31T23:59:59-23:00","session_id":"S-042"}` + "\n", "year"},
		"a bomb":       {`{"timestamp":"2026-08-11T08:00:00Z","estimated_cost_usd":1e999999999}` + "\n", "estimated_cost_usd"},
		"text":         {`{"timestamp":"2026-08-11T08:00:00Z","estimated_cost_usd":"1"}` + "\n", "estimated_cost_usd"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, log := runtimetest.State(t), good+tc.line+good
			path := logOf(t, log)
			rec := record(t, dir, path)
			if rec.Skipped != 1 || rec.Bytes != uint64(len(log)) || rec.USD.String() != "1" {
				t.Fatalf("recorded %+v, want 1 line skipped and $1 of %d bytes", rec, len(log))
			}
			if why := rec.Why.Error(); !strings.HasPrefix(why, path+": the line at byte 83: ") || !strings.Contains(why, tc.says) {
				t.Errorf("the reason is %q, want byte 83 and %q", why, tc.says)
			}
			if total, err := view(t, dir).TotalUSD().Get(); err != nil || total.String() != "1" {
				t.Errorf("total %v (%v), want 1", total, err)
			}
			if again := record(t, dir, path); again.Outcome != sidecar.Unchanged || again.Skipped != 0 {
				t.Errorf("a second reading of the same log: %+v, want unchanged", again)
			}
		})
	}
}

func TestRecordGetsPastALineWithoutEnd(t *testing.T) {
	const most = 16 << 20
	dir, path := runtimetest.State(t), logOf(t, "")
	if err := os.Truncate(path, most); err != nil { // a crash of the machine leaves zeros
		t.Fatal(err)
	}
	if rec := record(t, dir, path); rec.Skipped != 1 || rec.Bytes != most {
		t.Errorf("recorded %+v, want 1 line of %d bytes skipped", rec, most)
	}
}

func TestRecordOfNoLogChangesNothing(t *testing.T) {
	for _, path := range []string{"/nonexistent/log", t.TempDir()} {
		dir := runtimetest.State(t)
		if _, err := cost.Record(t.Context(), dir, path, "S-042", nil); err == nil {
			t.Errorf("%s is taken for a log", path)
		}
		if _, err := view(t, dir).LogOffset().Get(); !errors.Is(err, reader.ErrUnset) {
			t.Errorf("%s: the offset is set (%v)", path, err)
		}
	}
}
