package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader/statetest"
)

// spoiled are the damages of a sidecar by other hands, crashes and other releases.
var spoiled = map[string]struct {
	spoil  func(good string) string // nil: the file goes
	status string
	says   string // as a regular expression
	heals  string // the command that helps: accept, or quarantine
}{
	"missing":              {nil, "regressed", "it is gone", "accept"},
	"as it was":            {func(s string) string { return s }, "ok", `^$`, ""},
	"no bytes":             {func(string) string { return "" }, "invalid", "the file is empty", "quarantine"},
	"a newline":            {func(string) string { return "\n" }, "invalid", "nothing but white space", "quarantine"},
	"NUL bytes":            {func(s string) string { return strings.Repeat("\x00", len(s)) }, "invalid", "NUL bytes", "quarantine"},
	"a BOM alone":          {func(string) string { return "\xef\xbb\xbf" }, "invalid", "BOM", "quarantine"},
	"a BOM before it":      {func(s string) string { return "\xef\xbb\xbf" + s }, "invalid", "UTF-8 BOM", "quarantine"},
	"UTF-16":               {func(s string) string { return "\xff\xfe" + strings.Join(strings.Split(s, ""), "\x00") }, "invalid", "UTF-16", "quarantine"},
	"an empty object":      {func(string) string { return "{}" }, "invalid", `no "\$sidecar"`, "accept"},
	"an array":             {func(string) string { return "[1,2]" }, "invalid", "must be an object", "quarantine"},
	"the first bytes":      {func(s string) string { return s[:40] }, "invalid", "ends too early", "quarantine"},
	"a short value":        {func(string) string { return `{"a":` }, "invalid", "byte 5", "quarantine"},
	"a tail":               {func(s string) string { return s + "\n\"\n}\n" }, "invalid", "more follows", "quarantine"},
	"a brace more":         {func(s string) string { return s + "}" }, "invalid", "more follows", "quarantine"},
	"a digit changed":      {replaced(`"f":41`, `"f":42`), "foreign", "", "accept"},
	"white space added":    {func(s string) string { return s + "\n\n  \t" }, "foreign", "", "accept"},
	"a field taken out":    {replaced(",\n\"f\":41", ""), "foreign", "", "accept"},
	"another case":         {replaced(`"f":41`, `"F":41`), "foreign", "", "quarantine"},
	"two cases":            {replaced(`"f":41`, `"f":41,"F":1`), "invalid", "differs only in case", "quarantine"},
	"a long s":             {replaced(`"name":"ann"`, "\"\u017fame\":\"ann\""), "foreign", "", "quarantine"},
	"a newer format":       {replaced(`"format":1`, `"format":999`), "newer", "999.* 1", ""},
	"a format in quotes":   {replaced(`"format":1`, `"format":"1"`), "invalid", `format must be the number 1, not "1"`, "accept"},
	"a format of null":     {replaced(`"format":1`, `"format":null`), "invalid", "format must be the number 1, not null", "accept"},
	"no format":            {replaced(`"format":1,`, ``), "invalid", "no format number", "accept"},
	"another owner's":      {replaced(`"owner":"reset"`, `"owner":"cost"`), "foreign", "", "accept"},
	"a fraction for an f":  {replaced(`"f":41`, `"f":41.5`), "foreign", "", "quarantine"},
	"a member of a later":  {replaced(`"f":41`, `"f":41,"future":{"x":[1]}`), "foreign", "", "accept"},
	"invalid UTF-8":        {replaced("ann", "a\xffn"), "invalid", "", "quarantine"},
	"a lone surrogate":     {replaced("ann", `\ud800`), "invalid", "", "quarantine"},
	"a bare NaN":           {replaced(`"f":41`, `"f":NaN`), "invalid", "", "quarantine"},
	"a key twice":          {replaced(`"f":41`, `"f":41,"f":2`), "invalid", "", "quarantine"},
	"a null for an answer": {replaced(`"f":41`, `"f":null`), "foreign", "", "quarantine"},
}

func replaced(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

// Cases 16 to 19, 51, 53, 54, 58, 59, 62, 63, 135, 137, 138 and 143: each has a
// name of its own, none passes for another, no default stands in for it, no
// commit takes its place, and the other owners go on.
func TestASpoiledSidecarIsNamedAndKept(t *testing.T) {
	for name, tc := range spoiled {
		t.Run(name, func(t *testing.T) {
			dir := freshState(t)
			statetest.Damaged(dir, "sidecar-newer", "sidecar-regressed")
			must(t, "set", "reset", "f=41", "name=ann", "--dir", dir)
			must(t, "set", "cost", "tokens=7", "--dir", dir)
			path := filepath.Join(dir, "reset.json")
			text := spoil(t, path, tc.spoil)
			status, said := ownerStatus(t, dir, "reset")
			if status != tc.status || !regexp.MustCompile(tc.says).MatchString(said) {
				t.Errorf("it is %s: %s", status, said)
			}
			if tc.status != "ok" {
				for _, args := range [][]string{{"get", "f"}, {"get", "f", "--default", "7"}, {"set", "reset", "f=43"}, {"set", "reset", "name=ann"}} {
					got := call(t, "", append(args, "--dir", dir)...)
					if got.Status != failure.ExitState || got.Stdout != "" || !strings.Contains(got.Stderr, "reset.json") {
						t.Errorf("%q: %+v", args, got)
					}
				}
				if tc.spoil != nil {
					unchanged(t, path, text)
				}
			}
			if got := must(t, "get", "tokens", "--dir", dir); got != "7\n" {
				t.Errorf("the other owner's field is %q", got)
			}
			must(t, "set", "cost", "tokens=8", "--dir", dir)
			heals(t, dir, path, text, tc.heals)
		})
	}
}

func spoil(t *testing.T, path string, spoil func(string) string) (text string) {
	t.Helper()
	if spoil == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = spoil(string(good))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return text
}

func ownerStatus(t *testing.T, dir, owner string) (status, said string) {
	t.Helper()
	var view struct {
		Owners map[string]struct{ Status, Error string } `json:"owners"`
	}
	got := call(t, "", "view", "--json", "--dir", dir)
	if err := json.Unmarshal([]byte(got.Stdout), &view); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	return view.Owners[owner].Status, view.Owners[owner].Error
}

func unchanged(t *testing.T, path, text string) {
	t.Helper()
	if now, err := os.ReadFile(path); err != nil || string(now) != text {
		t.Errorf("%s was changed (%v)", path, err)
	}
}

// heals takes the way out that there is, and no other; the bytes are kept.
func heals(t *testing.T, dir, path, text, command string) {
	t.Helper()
	if command != "accept" && command != "" {
		if got := call(t, "", "accept", "reset", "--dir", dir); got.Status != failure.ExitState {
			t.Errorf("it is accepted: %+v", got)
		}
		unchanged(t, path, text)
	}
	if command == "" {
		return
	}
	if got := call(t, "", command, "reset", "--dir", dir); got.Status != failure.ExitDone {
		t.Errorf("%s: %+v", command, got)
	}
	if text == "" { // there was no file to keep
		return
	}
	kept := filepath.Join(dir, ".freehold", "quarantine", "reset.json.*")
	if found, err := filepath.Glob(kept); err != nil || len(found) != 1 {
		t.Errorf("kept: %v (%v)", found, err)
	} else {
		unchanged(t, found[0], text)
	}
	must(t, "set", "reset", "f=44", "--dir", dir)
	if status, said := ownerStatus(t, dir, "reset"); status != "ok" {
		t.Errorf("afterwards it is %s: %s", status, said)
	}
}

// Case 64: no field must be there.
func TestAnyFieldMayBeAbsent(t *testing.T) {
	dir := freshState(t)
	must(t, "set", "reset", "f=1", "name=ann", "context_cleared=true", "--dir", dir)
	for _, member := range []string{",\n\"context_cleared\":true", ",\n\"f\":1", ",\n\"name\":\"ann\""} {
		spoil(t, filepath.Join(dir, "reset.json"), replaced(member, ""))
		if got := call(t, "", "accept", "reset", "--dir", dir); got.Status != failure.ExitDone {
			t.Fatalf("without %s: %+v", member, got)
		}
		must(t, "view", "--dir", dir)
	}
	for _, field := range []string{"f", "name", "context_cleared"} {
		if got := call(t, "", "get", field, "--dir", dir); got.Status != failure.ExitNegative {
			t.Errorf("%s: %+v", field, got)
		}
	}
}

// Cases 67 and 94: an unwritten field is unset, and the leftover of a killed commit
// is no data, however new and whole it is.
func TestWhatIsNoSidecarIsNoData(t *testing.T) {
	dir := freshState(t)
	statetest.Damaged(dir, "sidecar-undeclared")
	if got := must(t, "view", "--json", "--dir", dir); strings.Contains(got, "0001-01-01") {
		t.Errorf("an unset instant is shown: %s", got)
	}
	must(t, "set", "reset", "f=2", "--dir", dir)
	path := filepath.Join(dir, "reset.json")
	newer, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := call(t, "", "quarantine", "reset", "--dir", dir); got.Status != failure.ExitDone {
		t.Fatal(got)
	}
	must(t, "set", "reset", "f=1", "--dir", dir)
	for _, name := range []string{".reset.json170000000000000", ".reset.jsonx", "reset.json.new", "reset2.json", ".notes"} {
		if err := os.WriteFile(filepath.Join(dir, name), newer, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := must(t, "get", "f", "--dir", dir); got != "1\n" {
		t.Errorf("f is %q", got)
	}
	if got := must(t, "view", "--json", "--dir", dir); strings.Contains(got, "reset2") || strings.Contains(got, "notes") {
		t.Errorf("something else is taken for an owner: %s", got)
	}
	must(t, "set", "reset", "f=3", "--dir", dir)
	for name, stays := range map[string]bool{".reset.json170000000000000": false, ".reset.jsonx": true, "reset.json.new": true, "reset2.json": true, ".notes": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Case 69: no name from the command line is a path.
func TestNoNameIsAPath(t *testing.T) {
	dir := freshState(t)
	base := filepath.Dir(dir)
	for _, name := range []string{"../x", "a/b", "..", ".", "", "/etc/passwd", "reset.json", ".freehold/manifest", "RESET", "reset\n", "con", strings.Repeat("a", 300)} {
		for _, args := range [][]string{{"set", name, "f=1"}, {"set", "reset", name + "=1"}, {"accept", name}, {"quarantine", name}, {"get", name}, {"schema", name}} {
			if got := call(t, "", append(append(args[:1:1], "--dir", dir, "--"), args[1:]...)...); got.Status != failure.ExitOwner && got.Status != failure.ExitUsage && got.Status != failure.ExitNegative {
				t.Errorf("%q: %+v", args, got)
			}
		}
	}
	if found, err := filepath.Glob(filepath.Join(base, "*")); err != nil || len(found) != 1 {
		t.Errorf("beside the state: %q (%v)", found, err)
	}
}

// Case 137: other files of Freehold without any bytes.
func TestEmptyFilesAreDamaged(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"manifest.json":       {[]string{"view"}, failure.ExitState, "manifest.json"},
		"watchdog.lease.json": {[]string{"set", "watchdog", "patience=2s"}, failure.ExitDone, "was moved to"},
		"cost.lock":           {[]string{"set", "cost", "tokens=1"}, failure.ExitState, "state repair"}, // its id is gone, too
	} {
		dir := freshState(t)
		statetest.Damaged(dir, "manifest-invalid", "lock-lost")
		must(t, "set", "watchdog", "patience=1s", "--dir", dir)
		if err := os.Truncate(filepath.Join(dir, ".freehold", name), 0); err != nil {
			t.Fatal(err)
		}
		if got := call(t, "", append(test.args, "--dir", dir)...); got.Status != test.status || !strings.Contains(got.Stderr, test.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	legacy := filepath.Join(t.TempDir(), "legacy.json")
	if err := os.WriteFile(legacy, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "", "adopt", legacy, "--dir", freshState(t)); got.Status != failure.ExitState || !strings.Contains(got.Stderr, "the file is empty") {
		t.Errorf("adopt: %+v", got)
	}
}
