package errorstest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Complete fails t for each error of the package under test with a text that no
// golden file holds, for each line that no code says any more, for each error
// without a remedy, and for each excuse that excuses nothing.
func (g *Golden) Complete(t *testing.T) {
	t.Helper()
	found := g.all(t, append([]string{"."}, g.Folders...), g.Prose)
	lines := read(t)
	known := slices.Concat(found, g.all(t, g.Wraps, nil))
	g.told(t, found, slices.Concat(slices.Collect(maps.Values(lines)), g.also(t)))
	for _, how := range slices.Sorted(maps.Keys(lines)) {
		says := lines[how]
		if !slices.ContainsFunc(known, func(s site) bool { return s.says.MatchString(says) }) {
			t.Errorf("%s: no code of the package, nor of those that it wraps, says %q any more: take the line %q out", file, says, how)
		}
		_, excused := g.excuse(how)
		switch helps := g.Parts != "" || Helps(says); {
		case !helps && !excused:
			t.Errorf("%s: the error does not end with what to do: %q", how, says)
		case helps && g.Unhelped[how] != "":
			t.Errorf("%s: the error ends with what to do and needs no excuse: %q", how, says)
		}
	}
	for how := range g.Unhelped {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(lines)), func(line string) bool { return excuses(how, line) }) {
			t.Errorf("%s has no line %q to excuse", file, how)
		}
	}
}

// all returns the sites of the packages in folders.
func (g *Golden) all(t *testing.T, folders, prose []string) (found []site) {
	t.Helper()
	for _, dir := range folders {
		more, err := sites(filepath.Join(home, dir), prose, g.Formats)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, more...)
	}
	return found
}

// excuse returns why the line how needs no remedy.
func (g *Golden) excuse(how string) (why string, ok bool) {
	for excused, why := range g.Unhelped {
		if excuses(excused, how) {
			return why, true
		}
	}
	return "", false
}

// excuses reports whether an entry of [Golden.Unhelped] is about a line.
func excuses(excused, how string) bool {
	prefix, many := strings.CutSuffix(excused, "…")
	return how == excused || many && strings.HasPrefix(how, prefix)
}

// Helps reports whether an error ends with a remedy, or carries one.
func Helps(says string) bool { return strings.Contains(says, arrow) || remedy().MatchString(says) }

// told fails t for each site that no line shows and that has no excuse.
func (g *Golden) told(t *testing.T, found []site, lines []string) {
	t.Helper()
	excused := map[string]bool{}
	for _, s := range found {
		shown := slices.ContainsFunc(lines, s.says.MatchString)
		if _, ok := g.Untold[s.text]; ok {
			excused[s.text] = true
			if shown {
				t.Errorf("%s: %q stands in a golden file and needs no excuse", s.at, s.text)
			}
			continue
		}
		if !shown {
			t.Errorf("%s: no golden file shows the error %q: provoke it in TestErrorsSayWhatToDo, then run: go test %s -run TestErrorsSayWhatToDo -update", s.at, s.text, packagePath())
		}
	}
	for text := range g.Untold {
		if !excused[text] {
			t.Errorf("no code of the package says %q any more: take the excuse out", text)
		}
	}
}

// also returns the lines of the further golden files.
func (g *Golden) also(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, pattern := range g.Also {
		files, err := filepath.Glob(filepath.Join(home, "testdata", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no golden file %s: %v", pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(string(text), "\n")...)
		}
	}
	return lines
}

// remedy matches an error that ends with a remedy: its last clause begins
// with a word that tells somebody to do something, names the command that does
// it, or lists what is wanted instead.
var remedy = expression("(?s)(^|[:;,(] |\\b(or|and|then|first) )(`?freehold [a-z]|`[^`]*` (moves|writes)|(the|its) [a-z ]+ are |there are |(" + imperatives + ")\\b)[^\\n]*$")

const imperatives = "accept|add|adopt|allow|ask|begin|build|call|check|choose|clear|close|commit|correct|create|declare|decide|delete|did you mean|divide|" +
	"encode|end|flatten|generate|give|indent|install|keep|leave|let|list|look|make|mend|move|name|nothing to do|open|pass|please report|prepare|put|" +
	"quote|raise|read|remove|rename|report|restore|round|run|save|say|see|set|shorten|spell|start|stop|store|take|try|unset|use|wait|want|write"
