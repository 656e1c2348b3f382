package doctor_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
var helpless = []string{
	"directory-unsafe", // if it is another user's
	"state-unreadable",
	"network-file-system", "manifest-invalid", "sidecar-newer", "claim-newer", "legacy-moved", "legacy-bad",
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

// printed returns the commands of the remedies as freehold doctor prints them, by the
// code and the path of their findings.
func printed(t *testing.T, dir string, o *doctor.Options) map[string]string {
	t.Helper()
	path, err := program()
	check(t, err)
	args := []string{"doctor", "--json", "--dir", dir}
	if o != nil && o.Declared != "" {
		args = append(args, "--owners", o.Declared)
	}
	if o != nil && o.Legacy != "" {
		args = append(args, "--legacy", o.Legacy)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "FREEHOLD_DIR=")
	out, _ := cmd.Output()
	var report struct {
		Findings []struct {
			Code, Path, Remedy string
			Command            bool
		}
	}
	check(t, json.Unmarshal(out, &report))
	commands := map[string]string{}
	for _, f := range report.Findings {
		if f.Command {
			commands[f.Code+" "+f.Path] = f.Remedy
		}
	}
	return commands
}

// cure runs the commands that doctor prints, as they stand, in a shell, and fails the
// test if a finding stays.
func cure(t *testing.T, dir string, o *doctor.Options) {
	t.Helper()
	path, err := program()
	check(t, err)
	tried := map[string]bool{}
	for again := true; again; {
		again = false
		commands := printed(t, dir, o)
		for _, f := range examine(t, dir, o).Findings {
			line, id := commands[f.Code+" "+f.Path], fmt.Sprint(f)
			switch {
			case line == "" && !slices.Contains(helpless, f.Code) && !strings.Contains(f.Remedy.Note, "release"):
				t.Errorf("%s: no command: %v", f.Code, f.Remedy)
			case line != "" && tried[id]:
				t.Errorf("still there after its remedy: %+v", f)
			case line != "": // the remedy may uncover another finding
				tried[id], again = true, true
				cmd := exec.Command("sh", "-c", line)
				cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "FREEHOLD_DIR=", "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				t.Logf("%s: %s: %v\n%s", f.Code, line, err, out)
			}
		}
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
		if len(f) != 1 || string(f[0].Remedy.Verb) != command {
			t.Errorf("the findings are %+v, want one and the remedy %s", f, command)
		}
		cure(t, dir, nil)
		commit(t, dir, "creator", sidecar.Op{Field: "skills", Verb: schema.VerbInsert, Key: "deploy"})
	}
}

// codes are the codes of all findings. Later releases add codes and change none.
var codes = []string{
	"directory-unsafe", "network-file-system", "state-unreadable", "manifest-invalid", "misplaced", "upgrade-unfinished", "other-module", "state-copied",
	"lock-lost", "claims-lost", "pending-lost",
	"sidecar-invalid", "sidecar-newer", "sidecar-foreign", "sidecar-unreadable", "sidecar-regressed", "sidecar-undeclared",
	"claim-invalid", "claim-newer", "claim-foreign", "claim-unreadable", "claim-regressed", "field-invalid", "attributes",
	"patch-stuck", "pending-waiting", "pending-full", "patch-kept",
	"legacy-open", "legacy-moved", "legacy-bad",
	"lease-record", "lease-gone", "lease-disagrees", "lease-stopped", "fence-shut", "lock-stopped",
	"litter", "twin", "unknown", "irregular", "other-user", "others-write", "full", "not-writable", "lock-held", "decoy", "copy",
	"instance-odd", "instances-stale", "declaration-contradicts",
}

// produced are the codes of the findings of all tests.
var produced sync.Map

// complete says so if all tests were run and a code is produced by none.
func complete(status int) int {
	if built != "" {
		os.RemoveAll(built)
	}
	if status != 0 || flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.list").Value.String() != "" {
		return status
	}
	for _, code := range codes {
		if _, ok := produced.LoadAndDelete(code); !ok {
			fmt.Printf("no test has a finding %s\n", code)
			status = 1
		}
	}
	for code := range produced.Range {
		fmt.Printf("the code %v is not listed\n", code)
		status = 1
	}
	return status
}
