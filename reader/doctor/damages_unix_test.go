//go:build unix

package doctor_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/statedir"
)

// A damage is done to a state in dir, and found.
type damage struct {
	do   func(t *testing.T, dir string)
	want []string
}

func edit(name, old, now string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		check(t, err)
		if !strings.Contains(string(text), old) {
			t.Fatalf("%s has no %s", name, old)
		}
		check(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, now, 1)), 0o600))
	}
}

func write(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		check(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { check(t, os.RemoveAll(filepath.Join(dir, name))) }
}

func chmod(name string, mode fs.FileMode) func(*testing.T, string) {
	return func(t *testing.T, dir string) { check(t, os.Chmod(filepath.Join(dir, name), mode)) }
}

func link(from, to string, how func(string, string) error) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		check(t, how(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
}

func all(do ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, do := range do {
			do(t, dir)
		}
	}
}

var damages = map[string]damage{
	"another hand":       {edit("cost.json", `"count":1`, `"count":2`), []string{"sidecar-foreign cost.json cost"}},
	"no JSON":            {write("cost.json", "{"), []string{"sidecar-invalid cost.json cost"}},
	"an unflushed write": {write("cost.json", strings.Repeat("\x00", 480)), []string{"sidecar-invalid cost.json cost"}},
	"a newer format":     {edit("cost.json", `"format":1`, `"format":9`), []string{"sidecar-newer cost.json cost"}},
	"a link": {all(remove("cost.json"), link("usage.json", "cost.json", os.Symlink)),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a second name": {link("cost.json", "spare", os.Link),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a pipe": {all(remove("cost.json"), func(t *testing.T, dir string) { check(t, syscall.Mkfifo(filepath.Join(dir, "cost.json"), 0o600)) }),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a claim edited":        {edit(".freehold/claims/cost/fired", `doctor.test`, `doctor.Test`), []string{"claim-foreign .freehold/claims/cost/fired cost fired"}},
	"a claim torn":          {write(".freehold/claims/cost/fired", "{"), []string{"claim-invalid .freehold/claims/cost/fired cost fired"}},
	"a claim linked":        {link(".freehold/claims/cost/fired", "spare", os.Link), []string{"claim-unreadable .freehold/claims/cost/fired cost fired"}},
	"claims moved":          {link(".freehold/claims/cost", "away", os.Rename), []string{"claims-lost .freehold/claims/cost cost"}},
	"no place to set aside": {remove(".freehold/usage.aside"), []string{"aside-lost .freehold/usage.aside usage"}},
	"a patch by hand":       {write(".freehold/usage.aside/0.1.json", "{}"), []string{"patch-stuck .freehold/usage.aside usage"}},
	"no lock":               {remove(".freehold/cost.lock"), []string{"lock-lost .freehold/cost.lock cost"}},
	"a copied lock":         {all(write("fresh", ""), link("fresh", ".freehold/state.lock", os.Rename)), []string{"lock-lost .freehold/state.lock"}},
	"no manifest":           {remove(".freehold/manifest.json"), []string{"manifest-invalid .freehold/manifest.json"}},
	"a record by hand":      {write(".freehold/watchdog.lease.json", "{}"), []string{"lease-record .freehold/watchdog.lease.json watchdog"}},
	"others may write": {all(chmod("cost.json", 0o620), chmod(".freehold/claims", 0o770)),
		[]string{"others-write .freehold/claims", "others-write cost.json cost"}},
	"others may write in it": {chmod(".", 0o777), []string{"directory-unsafe ."}},
	"a manifest with names":  {link(".freehold/manifest.json", "spare", os.Link), []string{"manifest-invalid .freehold/manifest.json"}},
	"a twin": {all(write("Cost.json", "{}"), write(".Freehold/x", "")),
		[]string{"twin .Freehold", "twin Cost.json"}},
	"an old sidecar": {link("cost.json", "spent.json", os.Rename), []string{"sidecar-undeclared spent.json"}},
	"strangers inside": {all(write(".freehold/x", ""), write(".freehold/claims/nobody/x", "")),
		[]string{"unknown .freehold/claims/nobody", "unknown .freehold/x"}},
	"killed writers": {all(write(".cost.json77", "{"), write(".freehold/.manifest.json3", ""), write(".freehold/.watchdog.lease.json9", ""),
		write(".freehold/claims/cost/.fired.0123456789abc", ""), write(".freehold/usage.aside/.x.json.0123456789abc", ""),
		write(".freehold-new-0123456789abc/x", ""), write(".freehold/upgrade-0123456789abc/cost.json", "")),
		[]string{"litter .cost.json77", "litter .freehold/.manifest.json3", "litter .freehold/.watchdog.lease.json9", "litter .freehold/claims/cost/.fired.0123456789abc",
			"litter .freehold/upgrade-0123456789abc", "litter .freehold/usage.aside/.x.json.0123456789abc", "litter .freehold-new-0123456789abc"}},
	"a patch kept out": {all(write(".freehold/quarantine/usage.json.1", "{}"), write(".freehold/quarantine/usage.json.1.why", "it does not fit\n")),
		[]string{"patch-kept .freehold/quarantine/usage.json.1"}},
	"a link to a quarantine": {link("a", ".freehold/quarantine", os.Symlink), []string{"irregular .freehold/quarantine"}},
	"a state below":          {func(t *testing.T, dir string) { check(t, sidecar.Create(filepath.Join(dir, "a", "b"), declaration())) }, []string{"decoy a/b"}},
	"a state above": {func(t *testing.T, dir string) {
		check(t, os.Mkdir(filepath.Join(filepath.Dir(dir), ".freehold"), 0o700))
	},
		[]string{"decoy /.."}},
	"a copy beside": {func(t *testing.T, dir string) { check(t, os.CopyFS(dir+".bak", os.DirFS(dir))) }, []string{"copy /state.bak"}},
	"a copy below": {func(t *testing.T, dir string) {
		aside := filepath.Join(t.TempDir(), "copy")
		check(t, errors.Join(os.CopyFS(aside, os.DirFS(dir)), os.Rename(aside, filepath.Join(dir, "a"))))
	}, []string{"copy a"}},
	"an upgrade that was killed": {func(t *testing.T, dir string) {
		d, err := statedir.Open(dir)
		check(t, err)
		defer d.Close()
		m, err := d.Manifest()
		check(t, err)
		m.Pending = &schema.Pending{ID: statedir.NewNonce()}
		check(t, d.WriteManifest(m))
	}, []string{"upgrade-unfinished .freehold/manifest.json"}},
	"hardly any room to set aside": {func(t *testing.T, dir string) {
		write(".freehold/usage.aside/0.1.json", "{}")(t, dir)
		check(t, os.Truncate(filepath.Join(dir, ".freehold/usage.aside/0.1.json"), sidecar.MaxAsideBytes*95/100))
	}, []string{"aside-full .freehold/usage.aside usage", "patch-stuck .freehold/usage.aside usage"}},
	"a way that is open": {func(t *testing.T, dir string) { check(t, os.Chmod(filepath.Dir(dir), 0o777)) },
		[]string{"directory-unsafe ."}},
}
