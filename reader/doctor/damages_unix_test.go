package doctor_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
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

// put gives a field of cost's a value as none of its programs would.
func put(field, value string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, "cost.json")
		text, err := os.ReadFile(path)
		check(t, err)
		doc, err := document.Decode(text)
		check(t, err)
		doc.Set(field, []byte(value), document.Provenance{Version: doc.Version, At: doc.WrittenAt, Program: "x"})
		text, err = doc.Encode()
		check(t, errors.Join(err, os.WriteFile(path, text, 0o600)))
	}
}

// restored has cost observe what reset has written, then does something to the
// sidecar of reset, of which old is an older copy.
func restored(do func(t *testing.T, path string, old []byte)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, "reset.json")
		phase := func(value string) {
			commit(t, dir, "reset", sidecar.Op{Field: "phase", Verb: schema.VerbSet, Value: []byte(value)})
		}
		phase(`"a"`)
		old, err := os.ReadFile(path)
		check(t, err)
		phase(`"b"`)
		r, err := reader.Open(dir)
		check(t, err)
		defer r.Close()
		v, err := r.View(t.Context())
		check(t, err)
		seen, err := v.Observe("phase")
		check(t, err)
		commit(t, dir, "cost", sidecar.Op{Field: "tokens", Verb: schema.VerbSet, Value: []byte("1"), Seen: seen})
		do(t, path, old)
	}
}

func copyFile(t *testing.T, dir, from, to string) {
	text, err := os.ReadFile(filepath.Join(dir, from))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, to), text, 0o600))
}

// copied has a copy take the place of the state. What it is a copy of stays, lest
// another test's lock gets the number of a lock of it.
func copied(t *testing.T, dir string) {
	original := filepath.Join(t.TempDir(), "state")
	check(t, errors.Join(os.Rename(dir, original), os.CopyFS(dir, os.DirFS(original))))
}

// deferUpdate sets a patch of usage's pending that has the operation op.
func deferUpdate(op string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		d, err := statedir.Open(dir)
		check(t, err)
		defer d.Close()
		m, err := d.Manifest()
		check(t, err)
		text := fmt.Sprintf(`{"format":1,"owner":"usage","state":%q,"id":"0123456789abc","at":"2026-08-11T09:12:44Z",`+
			`"writer":{"program":"x","identity":{"boot":"b","pid_ns":1,"pid":1,"start":1,"nonce":"n"}},"ops":[%s],"sum":"%064d"}`+"\n", m.StateID, op, 0)
		sum := sha256.Sum256([]byte(text))
		write(".freehold/usage.pending/0123456789abc.json", strings.Replace(text, fmt.Sprintf("%064d", 0), hex.EncodeToString(sum[:]), 1))(t, dir)
	}
}

// aged makes the patch that deferUpdate has deferred one of some minutes ago.
func aged(t *testing.T, dir string) {
	long := time.Now().Add(-2 * time.Minute)
	check(t, os.Chtimes(filepath.Join(dir, ".freehold/usage.pending/0123456789abc.json"), long, long))
}

var damages = map[string]damage{
	"another hand": {edit("cost.json", `"count":1`, `"count":2`), []string{"sidecar-foreign cost.json cost"}},
	"another hand, and a value that does not fit": {edit("cost.json", `"count":1`, `"count":"x"`), []string{"sidecar-foreign cost.json cost"}},
	"another hand, and another owner's field":     {edit("cost.json", `"count":1`, `"count":1,"phase":"x"`), []string{"sidecar-foreign cost.json cost"}},
	"another hand, and a once field":              {edit("cost.json", `"count":1`, `"count":1,"fired":"2026-08-11T09:12:44Z"`), []string{"sidecar-foreign cost.json cost"}},
	"another owner's sidecar":                     {all(remove("cost.json"), func(t *testing.T, dir string) { copyFile(t, dir, "usage.json", "cost.json") }), []string{"sidecar-foreign cost.json cost"}},
	"an object of values":                         {write("cost.json", `{"count":7}`), []string{"sidecar-invalid cost.json cost"}},
	"an object of values that do not fit":         {write("cost.json", `{"count":-7}`), []string{"sidecar-invalid cost.json cost"}},
	"a counter of another type":                   {put("count", `"x"`), []string{"field-invalid cost.json cost count"}},
	"copied here":                                 {copied, []string{"state-copied ."}},
	"copied beside": {func(t *testing.T, dir string) {
		original := dir + ".original"
		check(t, os.Rename(dir, original))
		check(t, os.CopyFS(dir, os.DirFS(original)))
	}, []string{"state-copied ."}},
	"no JSON":            {write("cost.json", "{"), []string{"sidecar-invalid cost.json cost"}},
	"an unflushed write": {write("cost.json", strings.Repeat("\x00", 480)), []string{"sidecar-invalid cost.json cost"}},
	"a newer format":     {edit("cost.json", `"format":1`, `"format":9`), []string{"sidecar-newer cost.json cost"}},
	"a link": {all(remove("cost.json"), link("usage.json", "cost.json", os.Symlink)),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a second name": {link("cost.json", "spare", os.Link),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a pipe": {all(remove("cost.json"), func(t *testing.T, dir string) { check(t, syscall.Mkfifo(filepath.Join(dir, "cost.json"), 0o600)) }),
		[]string{"sidecar-unreadable cost.json cost"}},
	"a claim edited":             {edit(".freehold/claims/cost/fired", `doctor.test`, `doctor.Test`), []string{"claim-foreign .freehold/claims/cost/fired cost fired"}},
	"a claim of a newer release": {edit(".freehold/claims/cost/fired", `"format":1`, `"format":2`), []string{"claim-newer .freehold/claims/cost/fired cost fired"}},
	"a claim removed":            {remove(".freehold/claims/cost/fired"), []string{"claim-regressed .freehold/claims/cost/fired cost fired"}},
	"a claim torn":               {write(".freehold/claims/cost/fired", "{"), []string{"claim-invalid .freehold/claims/cost/fired cost fired"}},
	"a claim linked":             {link(".freehold/claims/cost/fired", "spare", os.Link), []string{"claim-unreadable .freehold/claims/cost/fired cost fired"}},
	"a directory for a claim":    {all(remove(".freehold/claims/cost/fired"), write(".freehold/claims/cost/fired/x", "")), []string{"claim-unreadable .freehold/claims/cost/fired cost fired"}},
	"claims moved":               {link(".freehold/claims/cost", "away", os.Rename), []string{"claims-lost .freehold/claims/cost cost"}},
	"no place to defer":          {remove(".freehold/usage.pending"), []string{"pending-lost .freehold/usage.pending usage"}},
	"a patch by hand":            {write(".freehold/usage.pending/0123456789abc.json", "{}"), []string{"patch-stuck .freehold/usage.pending/0123456789abc.json usage"}},
	"a patch of a newer release": {deferUpdate(`{"field":"turns","op":"halve","value":2}`), []string{"patch-stuck .freehold/usage.pending/0123456789abc.json usage"}},
	"a patch that does not fit":  {deferUpdate(`{"field":"turns","op":"add","value":18446744073709551615}`), []string{"patch-stuck .freehold/usage.pending usage"}},
	"a patch that nobody folds":  {all(deferUpdate(`{"field":"turns","op":"add","value":2}`), aged), []string{"pending-waiting .freehold/usage.pending usage"}},
	"no lock":                    {remove(".freehold/cost.lock"), []string{"lock-lost .freehold/cost.lock cost"}},
	"a copied lock":              {all(write("fresh", ""), link("fresh", ".freehold/state.lock", os.Rename)), []string{"lock-lost .freehold/state.lock"}},
	"no manifest":                {remove(".freehold/manifest.json"), []string{"manifest-invalid .freehold/manifest.json"}},
	"a record by hand":           {write(".freehold/watchdog.lease.json", "{}"), []string{"lease-record .freehold/watchdog.lease.json watchdog"}},
	"others may write": {all(chmod("cost.json", 0o620), chmod(".freehold/claims", 0o770)),
		[]string{"others-write .freehold/claims", "others-write cost.json cost"}},
	"others may defer":       {chmod(".freehold/usage.pending", 0o777), []string{"others-write .freehold/usage.pending usage"}},
	"others may claim":       {chmod(".freehold/claims/cost", 0o777), []string{"others-write .freehold/claims/cost cost"}},
	"others may write in it": {chmod(".", 0o777), []string{"directory-unsafe ."}},
	"a manifest with names":  {link(".freehold/manifest.json", "spare", os.Link), []string{"manifest-invalid .freehold/manifest.json"}},
	"a twin": {all(write("Cost.json", "{}"), write(".Freehold/x", "")),
		[]string{"twin .Freehold", "twin Cost.json"}},
	"an old sidecar": {link("cost.json", "spent.json", os.Rename), []string{"sidecar-regressed cost.json cost", "sidecar-undeclared spent.json"}},
	"strangers inside": {all(write(".freehold/x", ""), write(".freehold/claims/nobody/x", "")),
		[]string{"unknown .freehold/claims/nobody", "unknown .freehold/x"}},
	"a whole one beside a torn one": {all(link("cost.json", ".cost.json770000000000000", os.Link), func(t *testing.T, dir string) {
		check(t, os.Remove(filepath.Join(dir, "cost.json")))
	}, write("cost.json", "{")), []string{"sidecar-invalid cost.json cost"}},
	"a whole manifest beside a torn one": {all(link(".freehold/manifest.json", ".freehold/.manifest.json300000000000000", os.Rename), write(".freehold/manifest.json", "{")), []string{"manifest-invalid .freehold/manifest.json"}},
	"a link like a staged file":          {link("cost.json", ".cost.json770000000000000", os.Symlink), []string{}},
	"killed writers": {all(write(".cost.json770000000000000", "{"), write(".freehold/.manifest.json300000000000000", ""), write(".freehold/.watchdog.lease.json900000000000000", ""),
		write(".freehold/claims/cost/.fired.0123456789abc", ""), write(".freehold/usage.pending/.x.json.0123456789abc", ""),
		write(".freehold-new-0123456789abc/x", ""), write(".freehold/upgrade-0123456789abc/cost.json", "")),
		[]string{"litter .cost.json770000000000000", "litter .freehold/.manifest.json300000000000000", "litter .freehold/.watchdog.lease.json900000000000000", "litter .freehold/claims/cost/.fired.0123456789abc",
			"litter .freehold/upgrade-0123456789abc", "litter .freehold/usage.pending/.x.json.0123456789abc", "litter .freehold-new-0123456789abc"}},
	"a patch rejected": {all(write(".freehold/quarantine/usage.json.1", "{}"), write(".freehold/quarantine/usage.json.1.why", "it does not fit\n")),
		[]string{"patch-kept .freehold/quarantine/usage.json.1"}},
	"a link to a quarantine": {link("a", ".freehold/quarantine", os.Symlink), []string{"irregular .freehold/quarantine"}},
	"a state below":          {func(t *testing.T, dir string) { check(t, sidecar.Create(filepath.Join(dir, "a", "b"), declaration())) }, []string{"decoy a/b"}},
	"a state above": {func(t *testing.T, dir string) {
		check(t, os.Mkdir(filepath.Join(filepath.Dir(dir), ".freehold"), 0o700))
	},
		[]string{"decoy /.."}},
	"a copy beside": {func(t *testing.T, dir string) { check(t, os.CopyFS(dir+".bak", os.DirFS(dir))) }, []string{"copy /state.bak"}},
	"a copy below": {func(t *testing.T, dir string) {
		pending := filepath.Join(t.TempDir(), "copy")
		check(t, errors.Join(os.CopyFS(pending, os.DirFS(dir)), os.Rename(pending, filepath.Join(dir, "a"))))
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
	"a writer of a second module": {func(t *testing.T, dir string) {
		d, err := statedir.Open(dir)
		check(t, err)
		defer d.Close()
		m, err := d.Manifest()
		check(t, err)
		m.Modules = []string{"first.example/agent", "second.example/copy"}
		check(t, d.WriteManifest(m))
	}, []string{"other-module .freehold/manifest.json"}},
	"hardly any room to defer": {func(t *testing.T, dir string) {
		write(".freehold/usage.pending/0123456789abc.json", "{}")(t, dir)
		check(t, os.Truncate(filepath.Join(dir, ".freehold/usage.pending/0123456789abc.json"), sidecar.MaxPendingBytes*95/100))
	}, []string{"pending-full .freehold/usage.pending usage", "patch-stuck .freehold/usage.pending/0123456789abc.json usage"}},
	"a value of another type": {put("note", "7"), []string{"field-invalid cost.json cost note"}},
	"a sidecar restored": {restored(func(t *testing.T, path string, old []byte) { check(t, os.WriteFile(path, old, 0o600)) }),
		[]string{"sidecar-regressed reset.json reset"}},
	"a sidecar removed": {restored(func(t *testing.T, path string, _ []byte) { check(t, os.Remove(path)) }),
		[]string{"sidecar-regressed reset.json reset"}},
	"a way that is open": {func(t *testing.T, dir string) { check(t, os.Chmod(filepath.Dir(dir), 0o777)) },
		[]string{"directory-unsafe ."}},
}
