package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

var kinds = flag.String("kinds", "", "run only the kinds that match this regular `expression`")

// tables collects what the benchmarks found; TestMain prints it when they are
// over, since a benchmark that prints spoils its own line.
var tables []*table

// reports collects what is no such table.
var reports []func(io.Writer)

func keepReport(print func(io.Writer)) { reports = append(reports, print) }

func TestMain(m *testing.M) {
	if kind := os.Getenv(memberVariable); kind != "" {
		if err := beMember(kind, os.Args[1:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	code := m.Run()
	for _, t := range tables {
		t.print(os.Stdout)
	}
	for _, print := range reports {
		print(os.Stdout)
	}
	os.Exit(code)
}

func BenchmarkCommit(b *testing.B) {
	dir := place(b)
	t := run(b, "Durable commit of one field of twelve", commitKinds(), dir, "bare", "bare-plain", "flock+rename")
	t.report(b, "freehold", "bare")
	t.report(b, "freehold", "flock+rename")
}

var viewBases = []string{"bare", "readfile+json-sidecars", "readfile+json"}

func BenchmarkView(b *testing.B) {
	b.Run("unchanged", func(b *testing.B) {
		t := run(b, "View of five owners, unchanged", viewKinds(false), place(b), viewBases...)
		t.report(b, "freehold-view", "bare")
		t.report(b, "freehold-view", "readfile+json-sidecars")
	})
	b.Run("one-changed", func(b *testing.B) {
		t := run(b, "View of five owners after a write by one", viewKinds(true), place(b), viewBases...)
		t.report(b, "freehold-view", "bare")
		t.report(b, "freehold-view", "readfile+json-sidecars")
	})
}

func BenchmarkOwners(b *testing.B) {
	t := run(b, "Durable commits of four owners by four processes", ownersKinds(), place(b), "bare-own", "flock+rename", "sqlite-modernc")
	t.report(b, "freehold", "flock+rename")
	t.report(b, "freehold", "sqlite-modernc")
}

func BenchmarkCounter(b *testing.B) {
	t := run(b, "Durable increments of one counter by eight processes", counterKinds(), place(b), "flock+rename", "sqlite-modernc")
	t.report(b, "freehold", "flock+rename")
	t.report(b, "freehold", "sqlite-modernc")
}

// run is one benchmark: an iteration is a round of all kinds that were asked
// for.
func run(b *testing.B, title string, all []kind, dir string, bases ...string) *table {
	r := &race{}
	wanted, err := regexp.Compile(*kinds)
	if err != nil {
		b.Fatalf("-kinds: %v", err)
	}
	for i, k := range all {
		if !wanted.MatchString(k.name) {
			continue
		}
		c, err := k.open(fmt.Sprintf("%s/%02d-%s", dir, i, k.name))
		if err != nil {
			b.Fatalf("%s: %v", k.name, err)
		}
		r.runners = append(r.runners, &runner{kind: k, contestant: c})
	}
	if len(r.runners) == 0 {
		b.Skipf("no kind matches -kinds %s", *kinds)
	}
	if err := r.warm(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := r.round(); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.finish(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op") // a round's time says nothing
	t := &table{title, describe(dir), bases, r.runners}
	keep(t)
	return t
}

// keep remembers a table for TestMain, together with what -count made the same
// benchmark find before.
func keep(t *table) {
	for _, old := range tables {
		if old.title == t.title {
			old.add(t)
			return
		}
	}
	tables = append(tables, t)
}
