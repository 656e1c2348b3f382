package declare_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestEveryMistakeHasItsMessage holds the messages in testdata/mistakes: for
// each NAME.yaml, NAME.want is what Parse reports, or nothing if it is fine.
func TestEveryMistakeHasItsMessage(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		theme := strings.TrimSuffix(filepath.Base(file), ".txtar")
		var renewed []txtar.File
		for _, f := range archive.Files {
			name, isYAML := strings.CutSuffix(f.Name, ".yaml")
			if !isYAML {
				continue
			}
			got := report(t, string(f.Data))
			renewed = append(renewed, f, txtar.File{Name: name + ".want", Data: []byte(got)})
			t.Run(theme+"/"+name, func(t *testing.T) {
				if diff := cmp.Diff(wanted(archive, name), got); diff != "" && !*update {
					t.Errorf("Parse (-want +got):\n%s", diff)
				}
			})
		}
		if *update {
			archive.Files = renewed
			if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func wanted(archive *txtar.Archive, name string) string {
	for _, f := range archive.Files {
		if f.Name == name+".want" {
			return string(f.Data)
		}
	}
	return "no " + name + ".want; run the test with -update\n"
}

// report returns what Parse says about text, a line for each problem, after
// checking what holds for every list of problems.
func report(t *testing.T, text string) string {
	t.Helper()
	_, err := declare.Parse("owners.yaml", "owners/runtime", []byte(text))
	if err == nil {
		return ""
	}
	problems, ok := errors.AsType[declare.Problems](err)
	if !ok || len(problems) == 0 {
		t.Fatalf("Parse returned %T, want Problems", err)
	}
	if !slices.IsSortedFunc(problems, func(a, b declare.Problem) int {
		return slices.Compare([]int{a.Line, a.Col}, []int{b.Line, b.Col})
	}) {
		t.Errorf("not in file order:\n%v", err)
	}
	for _, p := range problems {
		if p.Line < 1 || p.Col < 1 || p.Line > strings.Count(text, "\n")+1 {
			t.Errorf("the position is outside of the file: %v", p)
		}
		if !errorstest.Helps(p.What) {
			t.Errorf("the message does not end with what to do: %v", p)
		}
	}
	return err.Error() + "\n"
}
