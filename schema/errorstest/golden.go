// Package errorstest keeps the texts of a package's errors in one golden file,
// and finds the errors that the file lacks. It is for Freehold's own
// tests and promises nothing to others.
//
// A test hands each error that it provokes to [Golden.Same]; one test of the
// package calls [Golden.Complete], which reads the package's source and fails
// for a text that no golden file holds, for a line that no code says any more,
// and for an error without a remedy.
package errorstest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// file is the golden file: one error a line, after
// how it came about. The further lines of an error are indented.
var file = filepath.Join("testdata", "errors.golden")

// home is the folder of the package under test, in which its tests begin; some
// change to another.
var home, _ = os.Getwd()

// Golden is the golden file of the package under test. It may be used by many
// goroutines at once.
type Golden struct {
	// Update says to write the file anew where it differs; it is the package's
	// -update flag. If nil, the file is only compared.
	Update *bool
	// Also names, as patterns below testdata, further golden files that hold
	// errors of the package, kept by other tests.
	Also []string
	// Prose names functions of the package that take a format and make no
	// errors of it.
	Prose []string
	// Formats maps the names of functions of other packages that make the text of
	// an error to the place of the text among their parameters.
	Formats map[string]int
	// Folders names the folders, relative to the package's, of further packages
	// with errors in this file.
	Folders []string
	// Wraps names the folders, relative to the package's, of those whose errors
	// it hands on under nothing but the name of a place.
	Wraps []string
	// Parts says why the package's errors need no remedy: the caller that adds one. If
	// empty, they need one.
	Parts string
	// Untold maps a text, as the source writes it, to why no line holds it.
	Untold map[string]string
	// Unhelped maps a line's how, or what several begin with and "…", to why
	// it need not end with what to do.
	Unhelped map[string]string

	mu sync.Mutex
}

// Same fails t unless the golden file says of how what err says, and unless
// every character of that can be printed to a terminal. What differs from one
// run to the next, such as a temporary directory or the number of a process,
// counts as a word for it; more such words are given in pairs, what differs and
// the word. A bare number differs from nothing that happens to have the same
// digits, so that it is refused: what stands before it tells what it counts.
func (g *Golden) Same(t testing.TB, how string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", how)
		return
	}
	for pair := range slices.Chunk(words, 2) {
		if _, number := strconv.Atoi(pair[0]); number == nil {
			t.Errorf("%s: the number %s may stand in the error by chance, too: it is no word for %s", how, pair[0], pair[1])
		}
	}
	said := text(err)
	for _, r := range said {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			t.Errorf("%s: the error holds %U, which is not for a terminal: %q", how, r, said)
			break
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	want, said := read(t), steady(said, words)
	if want[how] == said {
		return
	}
	if g.Update == nil || !*g.Update {
		t.Errorf("%s: the error says\n\t%s\nand %s says\n\t%s\n%s", how, said, file, want[how], command())
		return
	}
	want[how] = said
	//freehold:allow readmodifywrite tests of one package bring their own golden file up to date, under the lock
	write(t, want)
}

// arrow stands between an error and its remedy.
const arrow = "\n-> "

// text returns the text of err, and its remedy in a line of its own.
func text(err error) string {
	if r, ok := errors.AsType[interface {
		error
		Advice() string
	}](err); ok && r.Advice() != "" {
		return err.Error() + arrow + r.Advice()
	}
	return err.Error()
}

// command is what brings the golden file up to date.
func command() string {
	return "if it is what it should say: go test " + packagePath() + " -update"
}

// packagePath is the package under test as an argument of go test, from the
// module's root.
func packagePath() string {
	for root := home; root != filepath.Dir(root); root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			rel, _ := filepath.Rel(root, home)
			return "./" + filepath.ToSlash(rel)
		}
	}
	return "."
}

// steady puts a word for each thing that differs from run to run.
func steady(said string, words []string) string {
	for pair := range slices.Chunk(words, 2) {
		if pair[0] != "" {
			said = whole(pair[0]).ReplaceAllLiteralString(said, pair[1])
		}
	}
	for _, v := range varying() {
		said = v.what.ReplaceAllString(said, v.word)
	}
	return strings.TrimRight(said, "\n")
}

// whole matches text where it is not a part of a longer word.
func whole(text string) *regexp.Regexp {
	what := begins.ReplaceAllString(regexp.QuoteMeta(text), `\b$0`)
	return regexp.MustCompile(ends.ReplaceAllString(what, `$0\b`))
}

var begins, ends = regexp.MustCompile(`^\w`), regexp.MustCompile(`\w$`)

// A variable is something that differs from run to run.
type variable struct {
	what *regexp.Regexp
	word string
}

// varying is made when it is needed: the processes that tests start by the
// thousand have this package in them, too.
var varying = sync.OnceValue(func() []variable {
	return []variable{
		{regexp.MustCompile(regexp.QuoteMeta(strings.TrimRight(os.TempDir(), `/\`)) + `[/\\][A-Za-z0-9_.-]+([/\\]\d{3})?`), "DIR"},
		{regexp.MustCompile(`\b\d{12,}\.\d+\.[0-9a-v]{13}\b`), "VERSION"},
		{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "ID"},
		{regexp.MustCompile(`\b[0-9a-v]{26}\b`), "ID"},
		{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "INSTANT"},
		{regexp.MustCompile(`\bepoch \d{12,}`), "epoch EPOCH"},
		{regexp.MustCompile(`\binode \d+`), "inode INODE"},
		{regexp.MustCompile(`\b(processes|process id|process|pid) (-?)\[?\d+( \d+)*\]?`), "$1 ${2}PID"},
		{regexp.MustCompile(`\.json\.\d{6}\.[0-9a-f]{64}\b`), ".json.NUMBER.SUM"},
	}
})

// read returns what each line of the golden file says, by how it came about.
func read(t testing.TB) map[string]string {
	t.Helper()
	golden, err := os.ReadFile(filepath.Join(home, file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	said, how := map[string]string{}, ""
	for line := range strings.Lines(string(golden)) {
		line = strings.TrimSuffix(line, "\n")
		if more, ok := strings.CutPrefix(line, "\t"); ok {
			said[how] += "\n" + more
			continue
		}
		var says string
		how, says, _ = strings.Cut(line, " => ")
		said[how] = says
	}
	return said
}

func write(t testing.TB, said map[string]string) {
	t.Helper()
	var golden strings.Builder
	for _, how := range slices.Sorted(maps.Keys(said)) {
		fmt.Fprintf(&golden, "%s => %s\n", how, strings.ReplaceAll(said[how], "\n", "\n\t"))
	}
	if err := os.MkdirAll(filepath.Join(home, "testdata"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, file), []byte(golden.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
