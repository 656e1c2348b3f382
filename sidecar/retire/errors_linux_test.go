package retire

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestErrorsSayWhatToDoOfRecords is about the records that Prepare cannot use.
func TestErrorsSayWhatToDoOfRecords(t *testing.T) {
	dir := newState(t)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, dir, "STATE")
	}
	_, err := Prepare(dir, "watchdog")
	same("prepare: nobody holds it", err)
	_, err = Prepare(dir, "cost")
	same("prepare: of a shared owner", err)
	_, err = Prepare(dir, "nobody\x1b")
	same("prepare: no such owner", err)
	w := mustOpen(t, dir)
	p := prepare(t, dir)
	_, err = p.Run(t.Context(), brief())
	same("retire: oneself", err)
	state := record(t, dir).State
	whole := readFile(t, recordPath(dir))
	for how, text := range map[string]string{
		"no JSON": "{\x1b", "a newer format": strings.Replace(whole, `"format": 1`, `"format": 7`, 1), "another owner's": strings.Replace(whole, `"owner": "watchdog"`, `"owner": "\u001b"`, 1),
		"another state's": strings.Replace(whole, state, `\u202e`, 1), "a process id that is none": strings.Replace(whole, `"pid": `, `"pid": -`, 1),
		"an epoch of no clock": `{"format":1,"owner":"watchdog","state":"` + state + `","epoch":18446744073709551615}`,
	} {
		if err := os.WriteFile(recordPath(dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Prepare(dir, "watchdog")
		same("prepare: the record is "+how, err)
	}
	if err := errors.Join(w.Close(), os.WriteFile(recordPath(dir), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	var notice error
	if _, err := p.Run(t.Context(), &Options{Notice: func(err error) { notice = err }}); err != nil {
		t.Fatal(err)
	}
	same("notice: the record was damaged", notice)
}
