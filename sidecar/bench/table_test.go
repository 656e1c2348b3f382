package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A table is what one benchmark found. Its runners have run the same number of
// rounds.
type table struct {
	title   string
	place   string
	bases   []string
	runners []*runner
}

// add adds the rounds of another run of the same benchmark, in which every kind
// had a new directory.
func (t *table) add(again *table) {
	for i, r := range again.runners {
		t.runners[i].times = append(t.runners[i].times, r.times...)
		if c, ok := t.runners[i].contestant.(*crowd); ok {
			c.join(r.contestant.(*crowd))
		}
	}
}

func (t *table) runner(name string) *runner {
	i := slices.IndexFunc(t.runners, func(r *runner) bool { return r.name == name })
	if i < 0 {
		return nil
	}
	return t.runners[i]
}

// ratio returns the median of the rounds' ratios of a kind's time to base's.
// It is false if one of them did not run.
func (t *table) ratio(name, base string) (float64, bool) {
	a, b := t.runner(name), t.runner(base)
	if a == nil || b == nil {
		return 0, false
	}
	return median(ratios(a.times, b.times)), true
}

// report adds the ratio to the benchmark's own line.
func (t *table) report(b *testing.B, name, base string) {
	if x, ok := t.ratio(name, base); ok {
		b.ReportMetric(x, name+"/"+base)
	}
}

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s; %s; %d rounds\n", t.title, t.place, len(t.runners[0].times))
	head := []string{"kind", "median", "min..max"}
	for _, base := range t.bases {
		head = append(head, "x "+base)
	}
	details := "allocs"
	if _, ok := t.runners[0].contestant.(*crowd); ok {
		details = "slowest/fastest, lost"
	}
	rows := [][]string{append(head, details, "lacks")}
	for _, r := range t.runners {
		rows = append(rows, t.row(r))
	}
	write(w, rows)
}

func (t *table) row(r *runner) []string {
	row := []string{r.name, short(median(r.times)), short(slices.Min(r.times)) + ".." + short(slices.Max(r.times))}
	for _, base := range t.bases {
		cell := ""
		if x, ok := t.ratio(r.name, base); ok {
			cell = fmt.Sprintf("%.3g", x)
		}
		row = append(row, cell)
	}
	return append(row, r.detail(), r.lacks)
}

// detail is what the table says of a runner beside times.
func (r *runner) detail() string {
	if c, ok := r.contestant.(*crowd); ok {
		return c.detail()
	}
	return fmt.Sprintf("%.0f (%.0f B)", r.allocs, r.bytes)
}

// write writes rows in columns, the first row as their heads.
func write(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(width))
	for i := range rule {
		rule[i] = strings.Repeat("-", width[i])
	}
	for _, row := range slices.Insert(rows, 1, rule) {
		for i, cell := range row {
			fmt.Fprintf(w, "| %-*s ", width[i], cell)
		}
		fmt.Fprintln(w, "|")
	}
}

// ratios divides round by round.
func ratios(of, by []time.Duration) []float64 {
	x := make([]float64, len(of))
	for i := range x {
		x[i] = float64(of[i]) / float64(max(by[i], 1))
	}
	return x
}

func median[T time.Duration | float64](x []T) T {
	sorted := slices.Sorted(slices.Values(x))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// short rounds a time to what means something.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Microsecond:
		return d.Round(time.Microsecond).String()
	case d >= time.Microsecond:
		return d.Round(10 * time.Nanosecond).String()
	}
	return d.String()
}
