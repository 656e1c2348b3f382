package cost

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// A row is one line of the cost log.
type row struct {
	Timestamp    time.Time      `json:"timestamp"`
	ObservedAt   time.Time      `json:"observed_at"` // missing in old rows
	SessionID    string         `json:"session_id"`
	Subagent     bool           `json:"subagent"`
	PromptTokens uint64         `json:"last_call_prompt_tokens"`
	CostUSD      jsontext.Value `json:"estimated_cost_usd"` // as text: a double would round the cost
}

// observed returns when the row's figures were read.
func (r row) observed() time.Time {
	if r.ObservedAt.IsZero() {
		return r.Timestamp
	}
	return r.ObservedAt
}

// A stretch is a part of the log.
type stretch struct {
	end     uint64          // offset behind the last whole line
	spent   decimal.Decimal // by all sessions
	last    *row            // of the session itself, not of its sub-agents; nil if none
	lastAt  uint64          // the offset of its beginning
	skipped int             // whole lines that are no rows
	why     error           // of the first of them
}

// skip counts a whole line that is no row. A killed writer leaves such a line,
// which must not stop the recording for ever.
func (s *stretch) skip(path string, err error) {
	if s.skipped++; s.why == nil {
		s.why = fmt.Errorf("%s: the line at byte %d: %w", path, s.end, err)
	}
}

// mostStretch bounds how much of the log one call reads, in bytes.
const mostStretch = 16 << 20

// readStretch reads the log from the offset from to its last whole line; the
// next call reads a line that is still being written. A log that is
// shorter than from was rotated, and is read from its beginning.
func readStretch(path string, from uint64, session string) (stretch, error) {
	log, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a named pipe would wait
	if err != nil {
		return stretch{}, err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return stretch{}, err
	}
	if !info.Mode().IsRegular() {
		return stretch{}, fmt.Errorf("%s is not a regular file: name the log itself", path)
	}
	if uint64(info.Size()) < from {
		from = 0
	}
	text, err := io.ReadAll(io.NewSectionReader(log, int64(from), mostStretch))
	if err != nil {
		return stretch{}, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	s := parseStretch(path, from, whole, session)
	if len(whole) == 0 && len(text) == mostStretch {
		s.skip(path, fmt.Errorf("it is longer than %d bytes: write shorter ones", mostStretch))
		s.end += mostStretch // the rest of the line is no row either
	}
	return s, nil
}

func parseStretch(path string, from uint64, lines []byte, session string) stretch {
	s := stretch{end: from}
	for line := range bytes.Lines(lines) {
		r, spent, err := parseRow(line)
		if err != nil {
			s.skip(path, err)
		}
		if err == nil && r.SessionID == session && !r.Subagent {
			s.last, s.lastAt = &r, s.end
		}
		s.end += uint64(len(line))
		s.spent = s.spent.Add(spent)
	}
	return s
}

func parseRow(line []byte) (row, decimal.Decimal, error) {
	var r row
	if err := json.Unmarshal(line, &r); err != nil {
		return row{}, decimal.Decimal{}, err
	}
	if r.Timestamp.IsZero() {
		return row{}, decimal.Decimal{}, errors.New("it has no timestamp: write one into each row")
	}
	if _, err := (schema.Time).Append(nil, r.observed()); err != nil {
		return row{}, decimal.Decimal{}, err
	}
	if r.CostUSD == nil {
		return r, decimal.Decimal{}, nil
	}
	// The schema's decimals are bounded: 1e999999999 has ten bytes here and a
	// gigabyte in a sum.
	spent, err := schema.Decimal.Decode([]byte(`"` + string(r.CostUSD) + `"`))
	if err != nil {
		return row{}, decimal.Decimal{}, fmt.Errorf("estimated_cost_usd: %w", err)
	}
	return r, spent, nil
}
