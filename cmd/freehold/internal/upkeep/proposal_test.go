package upkeep

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"pgregory.net/rapid"
)

// proposed returns the declaration that is proposed for a legacy file, and holds
// it to the law: it has no mistake, and takes the file in but for the keys that
// it names.
func proposed(t interface {
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}, name, text string) string {
	legacy, err := adopt.Parse(name, []byte(text))
	if err != nil {
		t.Fatalf("%v", err)
	}
	p, err := propose(legacy, "agent")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	source, err := declare.Parse("owners.yaml", "owners/agent", []byte(p.Text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, p.Text)
	}
	plan, err := legacy.Plan(source.Declaration)
	if err != nil {
		t.Fatalf("%v with\n%s", err, p.Text)
	}
	var left []string
	for _, u := range plan.Unowned {
		left = append(left, string(u.Pointer))
	}
	if fmt.Sprint(left) != fmt.Sprint(p.Left) {
		t.Errorf("unowned are %q, and said was %q, of\n%s", left, p.Left, p.Text)
	}
	return p.Text
}

func TestEveryFileHasADeclarationThatTakesItIn(t *testing.T) {
	files, err := filepath.Glob("../../../../sidecar/adopt/testdata/legacy-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range append(files, "../../../../owners/runtime/testdata/legacy-runtime.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		proposed(t, file, string(text))
	}
	long := strings.Repeat("x", 47)
	for _, text := range []string{
		// Names that mean something to Go, to YAML or to generated code.
		`{"type": 1, "func": 2, "version": 3, "raw": 4, "if_version": 5, "n": 6, "yes": true, "null": 1, "view": 1, "state": 1, "string": "x", "json_members": 1}`,
		// Names that become one.
		`{"a-b": 1, "a b": 2, "a_b": 3, "aB": 4, "A_B": 5, "a_b_2": 6, "id": 1, "i_d": 2, "ID": 3, "raw_value": 1, "raw": 2}`,
		`{"` + long + `1": 1, "` + long + `-2": 2, "` + long + long + `": 3, "0": 1, "00": 2, "_": 3, "__": 4, "é": 5, "日本": 6}`,
		// Keys that cannot be said in owners.yaml.
		`{"": 1, " ": 2, ".": 3, "a\nb": 4, "\u001b[2J": 5, "fine": 6, " edge": 7}`,
		// Texts that could end where they stand.
		`{"it's: #": "x", "\"": 1, "{": 2, "}": 3, "[a]": 4, "a: b": 5, "- a": 6, "*x": 7, "&x": 8, "%": 9, "@": 10, "//go:build x": 11, "|": 12}`,
		// Parts whose names clash, and parts that nest.
		`{"a": {"b_c": {"x": 1}}, "a_b": {"c": {"x": 1}}, "m": {"k": {"json_members": 1}, "l": {"json_members": 2}}}`,
		`{"deep": {"a": {"b": {"c": {"d": {"e": {"f": [[[[1]]]]}}}}}}, "list": [{"x": [1]}, {"x": [2], "y": {"z": null}}]}`,
		`{"one": {"only": {"a": 1}}, "none": {}, "nothing": [], "nulls": [null], "mixed": [1, "a", {}]}`,
		`{"fact:1": 3, "rule:2": 4}`, `{"x": {"": 1, "b": 2}}`, `{"x": {"a": {"": 1}, "b": {"": 2}}}`,
	} {
		proposed(t, "old.json", text)
	}
}

// Keys are declared many at a time, also where some of them mean something else in
// generated code: one by one, a file of thousands took minutes.
func TestManyKeysAreDeclared(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, `"k%d": %d, "raw%d": "x", `, i, i, i)
	}
	for _, odd := range []string{"raw", "version", "state", "view", "if_version", "k_1", "K1"} {
		fmt.Fprintf(&text, `"%s": 1, `, odd)
	}
	proposed(t, "old.json", "{"+text.String()+`"deep": `+strings.Repeat("[", 100)+strings.Repeat("]", 100)+"}")
}

// Too many keys for one owner, or too large a file for one sidecar, are reported.
func TestTooManyKeysAreRefused(t *testing.T) {
	legacy, err := adopt.Parse("old.json", []byte(manyKeys(5000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := propose(legacy, "agent"); !errors.Is(err, failure.Misused) || !strings.Contains(err.Error(), "10000 keys") {
		t.Errorf("it is proposed: %v", err)
	}
	if legacy, err = adopt.Parse("old.json", []byte(`{"a": "`+strings.Repeat("x", 600<<10)+`", "b": "`+strings.Repeat("x", 600<<10)+`"}`)); err != nil {
		t.Fatal(err)
	}
	if p, err := propose(legacy, "agent"); err != nil || !strings.Contains(p.Text, "more than one sidecar may hold") {
		t.Errorf("%v: it does not say that it is too large", err)
	}
}

// Counters are nothing that one file could show.
func TestNoCounterIsGuessed(t *testing.T) {
	if text := proposed(t, "old.json", `{"use_count": 3, "m": {"a": {"count": 1}, "b": {"count": 2}}}`); strings.Contains(text, "kind: counter") || !strings.Contains(text, "use_count: {type: int}") {
		t.Errorf("proposed\n%s", text)
	}
}

func TestAnyFileHasADeclarationThatTakesItIn(t *testing.T) {
	key := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,6}`), rapid.StringN(1, 8, 40))
	scalar := rapid.OneOf(
		rapid.Just(any(nil)), rapid.Map(rapid.Bool(), func(v bool) any { return v }), rapid.Map(rapid.Int64(), func(v int64) any { return v }),
		rapid.Map(rapid.Float64(), func(v float64) any { return v }), rapid.Map(rapid.String(), func(v string) any { return v }),
		rapid.Just(any("2026-08-10T08:02:11+0100")),
	)
	inner := rapid.OneOf(scalar, rapid.Map(rapid.SliceOfN(scalar, 0, 4), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(key, scalar, 0, 4), func(v map[string]any) any { return v }))
	file := rapid.MapOfN(key, rapid.OneOf(inner, rapid.Map(rapid.MapOfN(key, inner, 0, 4), func(v map[string]any) any { return v })), 1, 6)
	legacy := rapid.Map(file, func(v map[string]any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}).Filter(func(text string) bool { // without a key that can be declared there is nothing to propose
		legacy, err := adopt.Parse("old.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		fields, _ := adopt.Infer(legacy)
		return len(fields) > 0
	})
	rapid.Check(t, func(t *rapid.T) {
		proposed(t, "old.json", legacy.Draw(t, "file"))
	})
}

// manyKeys returns a file with two keys for each of n numbers, with values that are not
// alike.
func manyKeys(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `, "k%d": %d, "s%d": "x"`, i, i, i)
	}
	return "{" + strings.TrimPrefix(text.String(), ", ") + "}"
}
