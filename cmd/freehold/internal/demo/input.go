package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/shopspring/decimal"
)

// An input is what the hooks work on: real files of a real agent.
type input struct {
	legacy []byte            // the one shared file
	seen   []byte            // the file of one session
	stdin  map[string][]byte // what the agent tells each program
	rows   []row             // of the cost log
}

// A row is one line of the cost log.
type row struct {
	line []byte
	usd  decimal.Decimal
}

// readInput reads it from the module in dir.
func readInput(dir string) (*input, error) {
	const costLog = stateFolder + "/testdata/cost-log.jsonl"
	var errs error
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		errs = errors.Join(errs, err)
		return text
	}
	in := &input{
		legacy: read(stateFolder + "/testdata/legacy-runtime.json"),
		seen:   read("sidecar/adopt/testdata/legacy-context-seen.json"),
		stdin: map[string][]byte{
			sessionstart: read(stateFolder + "/testdata/hook-sessionstart-compact.json"),
			stop:         read(stateFolder + "/testdata/hook-stop.json"),
			pretool:      read(sessionFolder + "/testdata/hook-pretooluse.json"),
		},
	}
	for line := range bytes.Lines(read(costLog)) {
		r, err := parseRow(line)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", filepath.Join(dir, costLog), len(in.rows)+1, err)
		}
		in.rows = append(in.rows, r)
	}
	return in, errs
}

// parseRow reads a row without the help of package cost: the sums that the
// demo holds against those of its program must not be the program's own.
func parseRow(line []byte) (row, error) {
	var r struct {
		USD json.Number `json:"estimated_cost_usd"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return row{}, err
	}
	usd, err := decimal.NewFromString(r.USD.String())
	return row{line, usd}, err
}

// row returns the row of the nth stop.
func (in *input) row(n int) row { return in.rows[n%len(in.rows)] }

// A costLog is the growing log. It knows the exact sum of its rows at the end
// of each. It is safe for concurrent use.
type costLog struct {
	path string

	mu   sync.Mutex
	size uint64
	rows int
	sums map[uint64]decimal.Decimal // by the offset behind a row
}

func newCostLog(path string) *costLog {
	return &costLog{path: path, sums: map[uint64]decimal.Decimal{0: {}}}
}

// grow appends a row and returns the new size.
func (l *costLog) grow(r row) (size uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := l.sums[l.size].Add(r.usd)
	l.size += uint64(len(r.line))
	l.rows++
	l.sums[l.size] = sum // known before the first hook can read the row
	if _, err := f.Write(r.line); err != nil {
		return 0, err
	}
	return l.size, f.Close()
}

// end returns the size, the number of rows and their sum.
func (l *costLog) end() (size uint64, rows int, sum decimal.Decimal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size, l.rows, l.sums[l.size]
}

// sum returns the sum of the rows before offset, or false if no row ends
// there.
func (l *costLog) sum(offset uint64) (decimal.Decimal, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum, ok := l.sums[offset]
	return sum, ok
}
