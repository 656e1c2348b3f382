package doctor_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
)

// helpless are the codes of findings that no command of a shell cures: which of
// two things is the right one, or where another file system is, only people know.
var helpless = []doctor.Code{
	"directory-unsafe", // if it is another user's
	"state-unreadable",
	"network-file-system", "manifest-invalid", "sidecar-newer", "legacy-moved", "legacy-bad",
	"lease-disagrees", "decoy", "copy",
}

// built is the directory of program, once there is one.
var built string

// program is the command freehold, built once.
var program = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "doctor"); err != nil {
		return "", err
	}
	path = filepath.Join(built, "freehold")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "github.com/freehold-dev/freehold/cmd/freehold").CombinedOutput(); err != nil {
		return path, fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// cure does what the findings say, as somebody does who copies it to a shell,
// and fails the test if that does not cure them.
func cure(t *testing.T, dir string, o *doctor.Options) {
	t.Helper()
	path, err := program()
	check(t, err)
	tried := map[doctor.Finding]bool{}
	for again := true; again; {
		again = false
		for _, f := range examine(t, dir, o).Findings {
			switch {
			case !f.Command && !slices.Contains(helpless, f.Code) && !strings.Contains(f.Remedy, "newer release"):
				t.Errorf("%s: no command: %s", f.Code, f.Remedy)
			case f.Command && tried[f]:
				t.Errorf("still there after its remedy: %+v", f)
			case f.Command: // what one remedy leaves may be another finding
				tried[f], again = true, true
				sh := exec.Command("sh", "-c", f.Remedy)
				sh.Dir, sh.Env = t.TempDir(), append(os.Environ(), "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"), "FREEHOLD_DIR=")
				out, err := sh.CombinedOutput()
				t.Logf("%s: %s: %v\n%s", f.Code, f.Remedy, err, out)
			}
		}
	}
}

func TestEveryRemedyCures(t *testing.T) {
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newState(t)
			d.do(t, dir)
			cure(t, dir, &doctor.Options{Around: true})
		})
	}
}

// What is well as such is not given up for what is wrong about it.
func TestARemedyLosesNothingThatIsWell(t *testing.T) {
	for _, name := range []string{"a second name", "a claim linked", "a manifest with names", "others may write", "others may defer", "others may claim"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newState(t)
			before := fieldsIn(t, dir)
			damages[name].do(t, dir)
			cure(t, dir, nil)
			if diff := cmp.Diff(before, fieldsIn(t, dir)); diff != "" {
				t.Errorf("the remedy has changed what the state has (-before +after):\n%s", diff)
			}
		})
	}
}

// The copy that takes the place of a file with a second name overwrites nothing on
// its way there.
func TestARemedyOverwritesNothing(t *testing.T) {
	dir := newState(t)
	const mine = "a file of somebody's"
	damages["a second name"].do(t, dir)
	write("cost.json.own", mine)(t, dir)
	cure(t, dir, nil)
	if text, err := os.ReadFile(filepath.Join(dir, "cost.json.own")); err != nil || string(text) != mine {
		t.Errorf("another file is now %q (%v)", text, err)
	}
}

// fieldsIn returns the values and claims of a state.
func fieldsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	r, err := reader.Open(dir)
	check(t, err)
	defer r.Close()
	v, err := r.View(t.Context())
	check(t, err)
	found := map[string]string{}
	for _, o := range v.Declaration().Owners {
		for name := range o.Fields {
			raw, err := v.Field(name).Raw()
			found[name] = fmt.Sprint(string(raw), err)
		}
	}
	return found
}

// What one owner has at a key is accepted only where the owner who decides the
// keys has it.
func TestAKeyThatNobodyCreatedIsMovedPending(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	check(t, sidecar.Create(dir, &schema.Declaration{State: "usage", Owners: map[string]schema.Owner{
		"creator": {Fields: map[string]schema.Field{"skills": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"by": {Type: schema.TypeString}}}}},
		"tool":    {Fields: map[string]schema.Field{"skills": {Kind: schema.Map, Record: map[string]schema.Field{"runs": {Type: schema.TypeInt}}}}},
	}}))
	for _, command := range []string{"quarantine", "accept"} {
		write("tool.json", `{"skills":{"deploy":{"runs":1}}}`)(t, dir)
		f := examine(t, dir, nil).Findings
		if len(f) != 1 || !strings.HasPrefix(f[0].Remedy, "freehold "+command+" tool") {
			t.Errorf("the findings are %+v, want one and the remedy %s", f, command)
		}
		cure(t, dir, nil)
		commit(t, dir, "creator", sidecar.Op{Field: "skills", Verb: schema.VerbInsert, Key: "deploy"})
	}
}

// produced are the codes of what examine has found.
var produced sync.Map

// unproduced returns the codes that finding.go declares and no test has seen.
func unproduced() (codes []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "finding.go", nil, 0)
	if err != nil {
		return []string{err.Error()}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Code" {
			return true
		}
		code, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if _, ok := produced.Load(doctor.Code(code)); !ok {
			codes = append(codes, code)
		}
		return true
	})
	return codes
}

// complete says so if all tests were run and a code is produced by none.
func complete(status int) int {
	if built != "" {
		os.RemoveAll(built)
	}
	if status != 0 || flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.list").Value.String() != "" {
		return status
	}
	if codes := unproduced(); len(codes) > 0 {
		fmt.Printf("no test produces these findings: %s\n", strings.Join(codes, ", "))
		return 1
	}
	return 0
}
