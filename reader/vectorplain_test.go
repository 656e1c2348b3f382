package reader_test

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/google/go-cmp/cmp"
)

// A plainView is what a plain reader shows; see the package documentation.
type plainView struct {
	State     string                       `json:"state"`
	Snapshot  map[string]string            `json:"snapshot"`
	Owners    map[string]string            `json:"owners"`
	Fields    map[string]any               `json:"fields"`
	Unknown   map[string]string            `json:"unknown"`
	Freshness map[string]map[string]string `json:"freshness"`
}

// A fullView is what of a full view a plain one is made from.
type fullView struct {
	State      string
	Snapshot   map[string]string
	Fields     map[string]any
	Provenance map[string]struct {
		Status, Freshness, Reason string
		Parts                     map[string]struct{ Status string }
	}
	Owners map[string]struct {
		Status  string
		Pending int
	}
}

// plainOf is the definition of a plain view, by the full one.
func plainOf(full fullView, d *schema.Declaration) plainView {
	p := plainView{
		State: full.State, Snapshot: map[string]string{"consistency": full.Snapshot["consistency"]}, Owners: map[string]string{},
		Fields: map[string]any{}, Unknown: map[string]string{}, Freshness: map[string]map[string]string{},
	}
	usable := func(status string) bool { return status == "ok" || status == "missing" }
	for name, o := range full.Owners {
		if p.Owners[name] = o.Status; usable(o.Status) && o.Pending > 0 {
			p.Owners[name] = "deferring"
		}
	}
	for name, from := range full.Provenance {
		f, _ := d.Joined(name)
		decider, _ := d.OwnerOf(name)
		value, set := full.Fields[name]
		statuses := []string{p.Owners[decider]}
		misfit := from.Status == "invalid" || !plainly(f, value)
		for _, owner := range d.OwnersOf(name) {
			misfit = misfit || from.Parts[owner].Status == "invalid"
			if owner != decider {
				statuses = append(statuses, p.Owners[owner])
			}
		}
		if f.EffectiveKind() == schema.Once {
			statuses, misfit = []string{from.Status}, false
		}
		if bad := slices.IndexFunc(statuses, func(s string) bool { return !usable(s) }); bad >= 0 {
			p.Unknown[name] = statuses[bad]
		} else if misfit {
			p.Unknown[name] = "value"
		} else if set {
			p.Fields[name] = declaredOf(f, value)
		}
		if f.Dependent() {
			p.Freshness[name] = map[string]string{"verdict": from.Freshness, "reason": from.Reason}
			unknown := ""
			for _, of := range f.DependsOn {
				if owner, _ := d.OwnerOf(of); !usable(p.Owners[owner]) {
					unknown = "dependency-unreadable"
				}
			}
			if _, shown := p.Fields[name]; !shown {
				unknown = "unset"
			}
			if p.Unknown[name] != "" {
				unknown = "unreadable"
			}
			if unknown != "" {
				p.Freshness[name] = map[string]string{"verdict": "unknown", "reason": unknown}
			}
		}
	}
	return p
}

// plainly reports whether a plain reader must take value, which is one of f's
// type, for one: whether it is none of the extremes.
func plainly(f schema.Field, value any) bool {
	text, _ := value.(string)
	switch v := value.(type) {
	case []any:
		element, _ := f.Element()
		return !slices.ContainsFunc(v, func(e any) bool { return !plainly(element, e) })
	case map[string]any:
		for name, e := range v {
			member, ok := f.Fields[name]
			switch {
			case f.EffectiveKind() == schema.Map && f.Value != nil:
				member, ok = *f.Value, true
			case f.EffectiveKind() == schema.Map:
				member, ok = schema.Field{Type: schema.TypeRecord, Fields: f.Record}, true
			}
			if ok && !plainly(member, e) {
				return false
			}
		}
	case *big.Rat:
		size, _ := v.Float64()
		return f.Type != schema.TypeInt && f.Type != schema.TypeUint || math.Abs(size) < 9e18 || f.Type == schema.TypeUint && size < 1.8e19
	}
	switch f.Type {
	case schema.TypeString:
		return len(text) <= 16384
	case schema.TypeTime:
		at, err := time.Parse(time.RFC3339Nano, text)
		return text == "" || err == nil && at.Year() > 1 && at.Format(time.RFC3339Nano) == text
	case schema.TypeDuration:
		d, err := time.ParseDuration(text)
		return text == "" || err == nil && d.Abs().Hours() < 1e6 && d.Abs() >= 0
	}
	return true
}

// declaredOf returns value without what nobody declares in the rows of a map.
func declaredOf(f schema.Field, value any) any {
	rows, ok := value.(map[string]any)
	if !ok || f.EffectiveKind() != schema.Map || f.Value != nil {
		return value
	}
	for _, row := range rows {
		members := row.(map[string]any)
		for name := range members {
			if _, declared := f.Record[name]; !declared {
				delete(members, name)
			}
		}
	}
	return rows
}

// exactly decodes JSON into v with all numbers as what they are exactly, but
// those with a point or an exponent as the double that they make.
func exactly(t *testing.T, text string, v any, values *map[string]any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for name, value := range *values {
		(*values)[name] = exact(value)
	}
}

func exact(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exact(v[name])
		}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			double, _ := strconv.ParseFloat(string(v), 64)
			return new(big.Rat).SetFloat64(double)
		}
		n, _ := new(big.Rat).SetString(string(v))
		return n
	}
	return value
}

var sameNumber = cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })

// plainPython runs plain readers, each a script, on state directories. It returns
// by script and state the view, empty where there is none.
func plainPython(t *testing.T, scripts, states []string) (views [][]string) {
	t.Helper()
	const driver = `
import importlib.util, json, sys
count = int(sys.argv[1])
for i, script in enumerate(sys.argv[2:2 + count]):
    spec = importlib.util.spec_from_file_location(f"plain{i}", script)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    for state in sys.argv[2 + count:]:
        try: print(json.dumps(plain.view(state)))
        except Exception as why: print(json.dumps({"state": repr(why)} if type(why) is not RuntimeError else {}))
`
	args := slices.Concat([]string{"-B", "-c", driver, strconv.Itoa(len(scripts))}, scripts, states)
	out, err := exec.Command("python3", args...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		t.Fatalf("%v\n%s", err, exit.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(scripts)*len(states) {
		t.Fatalf("%d readers of %d states gave %d lines:\n%s", len(scripts), len(states), len(lines), out)
	}
	return slices.Collect(slices.Chunk(lines, len(states)))
}

const plainScript = "testdata/python/plain.py"

// plainDiffs compares what plain readers make of all vectors with the
// definition, by reader and vector.
func plainDiffs(t *testing.T, scripts ...string) (all []map[string]string) {
	t.Helper()
	var states []string
	wants := map[string]plainView{}
	copies := vectorCopies(t)
	for _, v := range vectors() {
		states = append(states, v.place(t, copies[v.name]))
		text, err := os.ReadFile(filepath.Join(vectorDir, v.name, "view.json"))
		if err != nil {
			t.Fatal(err)
		}
		var full fullView
		exactly(t, string(text), &full, &full.Fields)
		if v.name != "upgrade" { // while one is under way there is no view
			wants[v.name] = plainOf(full, &schema.Declaration{State: "vector", Owners: v.owners})
		}
	}
	for _, views := range plainPython(t, scripts, states) {
		diffs := map[string]string{}
		for i, v := range vectors() {
			var got plainView
			exactly(t, views[i], &got, &got.Fields)
			diffs[v.name] = cmp.Diff(wants[v.name], got, sameNumber)
		}
		all = append(all, diffs)
	}
	return all
}

// A plain reader shows what its definition says: no field that the full view does
// not have, no other value, and every one that it must.
func TestPlainPythonReaderPassesTheVectors(t *testing.T) {
	wantPython(t)
	for name, diff := range plainDiffs(t, plainScript)[0] {
		if diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestPlainPythonReaderIsShort(t *testing.T) {
	text, err := os.ReadFile(plainScript)
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(strings.TrimPrefix(string(text), `"""`), `"""`)
	lines := 0
	for i, line := range strings.Split(code, "\n") {
		if n := len([]rune(line)); n > 120 {
			t.Errorf("line %d after the docstring has %d characters, more than 120", i, n)
		}
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines++
		}
	}
	if lines > 115 {
		t.Errorf("%d lines of code, more than the 115 that it promises", lines)
	}
}

// Each rule that the plain reader keeps, some vector needs: without it, it shows
// what it must not, or not what it must.
func TestVectorsTellPlainReadersThatLeaveARuleOut(t *testing.T) {
	wantPython(t)
	text, err := os.ReadFile(plainScript)
	if err != nil {
		t.Fatal(err)
	}
	mutants := []struct{ rule, old, new string }{
		{"the sum", `hexdigest() == head["sum"] and`, `hexdigest() and`},
		{"owner and state", `and whose.items() <= head.items()`, ``},
		{"incarnations", `key in joined and born[i].get(key) == born[0].get(key)`, `key in joined`},
		{"keys of one owner", `key in joined and born`, `born`},
		{"pending patches", `if waits and status in USABLE else`, `if False else`},
		{"no pending patches", `any(name[0] != "." for name in os.listdir(pile))`, `any(os.listdir(pile))`},
		{"an unreadable directory of them", `"unreadable" if pending > listed else`, ``},
		{"what was observed of others", `e.get("observed", {}).items()`, `()`},
		{"what an upgrade wrote", `manifest.get("upgraded", {})`, `{}`},
		{"versions that a lock file tells of", `for o, line in reached.items() if line]`, `for o, line in ()]`},
		{"which of the versions", `line[line[2] != boot]`, `line[0]`},
		{"sums of a lock file's lines", `hexdigest() == sum else []`, `hexdigest() else []`},
		{"claims that a lock file tells of", `("regressed", {}) if gone`, `("regressed", {}) if False`},
		{"other histories", `then > own or known and seen[-13:] not in head["recent"]`, `then > own`},
		{"what a sidecar forgot", `known and seen[-13:]`, `seen[-13:]`},
		{"what a sidecar remembers for sure", `min(128, len(head["recent"]))`, `len(head["recent"])`},
		{"names that stand twice", `len(dict(pairs)) == len(pairs)`, `True`},
		{"names in another case", `check(all(re.fullmatch("[$]?[a-z]`, `check(True or all(re.fullmatch("[$]?[a-z]`},
		{"how deep", `depth(doc) <= 64`, `True`},
		{"how deep a value", `depth(v) <= 48`, `True`},
		{"lone surrogates", `json.dumps(doc, ensure_ascii=False).encode() and`, ``},
		{"words that are no JSON", `, parse_constant=int`, ``},
		{"integers", `-0.0 if digits == "-0" else int(digits)`, `int(digits)`},
		{"days", `(pattern is not TIME or`, `(True or`},
		{"enums", `v in f["values"]`, `True`},
		{"types", `check(holds(f, v) and`, `check(`},
		{"types in maps", `check(holds({`, `check(True or holds({`},
		{"the format", `"format": "1",`, ``},
		{"a later format", `if like("[2-9]|`, `if like("-|`},
		{"counts", `"epoch": COUNT,`, ``},
		{"when it was written", `"written_at": TIME,`, ``},
		{"claims of this field", `{**whose, "field": name}`, `whose`},
		{"upgrades under way", `or "pending" in manifest`, ``},
		{"events under way", `if e.get("open"): return`, `if False: return`},
		{"what is not observed", `"1 unknown not-observed" if seen is None else`, ``},
		{"what is depended on", `verdict if found[on][0] in USABLE else`, `verdict if True else`},
	}
	dir, scripts := t.TempDir(), []string(nil)
	for i, m := range mutants {
		if n := strings.Count(string(text), m.old); n != 1 {
			t.Fatalf("%s: %s has %q %d times", m.rule, plainScript, m.old, n)
		}
		scripts = append(scripts, filepath.Join(dir, strconv.Itoa(i)+".py"))
		if err := os.WriteFile(scripts[i], []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, diffs := range plainDiffs(t, scripts...) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(diffs)), func(diff string) bool { return diff != "" }) {
			t.Errorf("without %s it passes all vectors", mutants[i].rule)
		}
	}
}

// Why a plain reader refuses a state is said in one line.
func TestPlainPythonReaderRefusesInOneLine(t *testing.T) {
	wantPython(t)
	dir := t.TempDir()
	for name, manifest := range map[string]string{"pending": `{"format":1,"pending":{}}`, "newer": `{"format":2}`, "broken": `{`, "empty": `{}`} {
		if err := os.MkdirAll(filepath.Join(dir, name, ".freehold"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, ".freehold", "manifest.json"), []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"nosuch", "pending", "newer", "broken", "empty"} {
		state := filepath.Join(dir, name)
		out, err := exec.Command("python3", "-B", plainScript, state).Output()
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != 1 || len(out) > 0 {
			t.Fatalf("%s: %v, and it shows %q", name, err, out)
		}
		said := string(exit.Stderr)
		if !strings.HasPrefix(said, state+": no state to read now: ") || strings.Count(said, "\n") != 1 {
			t.Errorf("%s: it says %q", name, said)
		}
	}
}
