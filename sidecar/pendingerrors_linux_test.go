package sidecar

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/failpoint"
	"github.com/freehold-dev/freehold/sidecar/internal/pending"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

// TestErrorsSayWhatToDoAboutWhatIsSetPending provokes what deferring and
// folding can be refused for.
func TestErrorsSayWhatToDoAboutWhatIsSetPending(t *testing.T) {
	dir, _ := newSetters(t)
	var told []error
	w := openSetter(t, dir, "tool", &Options{Notice: func(err error) { told = append(told, err) }})
	same := func(how string, err error, replace ...string) {
		t.Helper()
		said.Same(t, "deferred: "+how, err, append(replace, dir, "STATE", w.manifest.StateID, "STATEID")...)
	}
	at := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	put := func(p pending.Patch, change ...string) {
		t.Helper()
		a, err := w.dir.OpenPending(w.manifest, "tool")
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		p.At = at
		raw, err := p.Encode("tool", w.manifest.StateID)
		text := string(raw)
		if len(change) > 0 && change[0] == "again" { // sealed by a newer release
			text = reseal(strings.NewReplacer(change[1:]...).Replace(text))
		} else {
			text = strings.NewReplacer(change...).Replace(text)
		}
		if err == nil {
			err = os.WriteFile(a.Path(pending.Name(p.ID)), []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	say := func(how string, replace ...string) {
		t.Helper()
		told = nil
		update(t, w, ops())
		if len(told) != 1 {
			t.Fatalf("%s: told %v", how, told)
		}
		same(how, told[0], replace...)
		for _, name := range pendingNames(t, w) {
			os.Remove(filepath.Join(dir, ".freehold", "tool.pending", name))
		}
	}
	add := Patch{op("n", schema.VerbAdd, "2")}
	put(pending.Patch{ID: "0000000000017", Ops: add}, `"value":2`, `"value":3`)
	say("an edited patch")
	put(pending.Patch{ID: "0000000000018", Ops: add}, `"ops":[`, `"ops":`)
	say("a patch that is no JSON")
	if err := os.WriteFile(filepath.Join(dir, ".freehold", "tool.pending", "0000000000003.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	say("an empty patch")
	put(pending.Patch{ID: "0000000000019", Ops: add}, "again", `"op":"add"`, `"op":"add","unless":1`)
	say("a member of a newer release")
	put(pending.Patch{ID: "0000000000020", Ops: add}, "again", `"format":1`, `"format":2`)
	say("a newer format")
	put(pending.Patch{ID: "0000000000021", Ops: add}, "again", `"id":"0000`, `"id":"0001`)
	say("a patch that was copied")
	put(pending.Patch{ID: "0000000000022", Ops: Patch{op("n", "multiply", "2")}})
	say("a newer operation")
	put(pending.Patch{ID: "0000000000023", Ops: add}, "again", `"ops":[`, `"ops":{"list":[`, `}],"sum"`, `}]},"sum"`)
	say("operations laid out in another way")
	put(pending.Patch{ID: "0000000000024", Ops: add}, "again", `"value":2`, `"value":`+strings.Repeat("[", 20)+strings.Repeat("]", 20))
	say("operations too deep")
	put(pending.Patch{ID: "0000000000025", Ops: Patch{op("unheard", schema.VerbAdd, "2")}})
	say("an unknown field")
	update(t, w, ops(op("small", schema.VerbAdd, "9223372036854775807")))
	put(pending.Patch{ID: "0000000000008", Ops: Patch{op("small", schema.VerbAdd, "1")}})
	say("an overflow")
	_, err := Resolve(t.Context(), dir, "tool", Version{Nonce: "0000000000008"})
	same("resolve: rejected", err)
	put(pending.Patch{ID: "0000000000009", Ops: Patch{op("n", schema.VerbAdd, "1"), {Field: "own", Key: "k", Member: "uses", At: Version{Epoch: 7, Revision: 1, Nonce: "0000000000007"}, Verb: schema.VerbAdd, Value: []byte("1")}}})
	say("an incarnation that is gone")
	_, err = Resolve(t.Context(), dir, "tool", Version{Nonce: "000000000000a"})
	same("resolve: unknown", err)
	put(pending.Patch{ID: "0000000000007", Ops: Patch{op("unheard", schema.VerbAdd, "2")}})
	same("a removal behind a patch that cannot be folded", failed(t, w, func(tx *Tx) { tx.Apply(op("tags", schema.VerbRemove, `"x"`)) }))
	os.Remove(filepath.Join(dir, ".freehold", "tool.pending", "0000000000007.json"))
	_, outs := pending.Overlay(w.manifest, "tool", w.last, []*pending.Patch{{ID: "000000000000b", Ops: Patch{op("small", schema.VerbAdd, "1")}}})
	same("a view of an overflow", outs["000000000000b"])
	tooMuchPending(t, w, same)

	quarantine := filepath.Join(dir, ".freehold", "quarantine")
	if err := errors.Join(os.RemoveAll(quarantine), os.WriteFile(quarantine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	put(pending.Patch{ID: "000000000000c", Ops: Patch{op("small", schema.VerbAdd, "1")}})
	say("nowhere to keep it")
	for n := range 14 {
		update(t, w, ops(op("tags", schema.VerbInsert, fmt.Sprintf(`"%d%s"`, n, strings.Repeat("x", 60_000)))))
	}
	put(pending.Patch{ID: "000000000000d", Ops: add})
	say("a sidecar that is nearly full")
	locked(t, w, func() {
		same("a read", failed(t, w, func(tx *Tx) { tx.Get("n") }))
		if err := os.RemoveAll(filepath.Join(dir, ".freehold", "tool.pending")); err != nil {
			t.Fatal(err)
		}
		same("no directory", failed(t, w, func(tx *Tx) { tx.Apply(op("n", schema.VerbAdd, "1")) }))
	})
	same("no directory to fold from", failed(t, w, func(*Tx) {}))
}

// TestErrorsSayWhatToDoAboutAcknowledging provokes what goes wrong around the
// acknowledgement of a deferred patch.
func TestErrorsSayWhatToDoAboutAcknowledging(t *testing.T) {
	dir, w := newSetters(t)
	id := ""
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, "deferred: "+how, err, dir, "STATE", w.manifest.StateID, "STATEID", id, "ID")
	}
	at := func(step string, fn func()) {
		t.Helper()
		failpoint.Set(func(s string) {
			if s == step {
				failpoint.Set(nil)
				fn()
			}
		})
	}
	defer failpoint.Set(nil)
	add := func(tx *Tx) { tx.Apply(op("n", schema.VerbAdd, "1")) }
	update(t, w, ops(op("n", schema.VerbAdd, "1")))
	path := sidecarPath(dir, "tool")
	text := readFile(t, path)
	locked(t, w, func() {
		in := filepath.Join(dir, ".freehold", "tool.pending")
		at(failpoint.PendingPut, func() { os.Rename(in, in+".moved") })
		c, err := w.Update(t.Context(), func(tx *Tx) error { add(tx); return nil })
		id = c.Version.Nonce
		same("where nobody looks", err)
		if err := os.Rename(in+".moved", in); err != nil {
			t.Fatal(err)
		}
	})
	quarantine := filepath.Join(dir, ".freehold", "quarantine")
	if err := os.MkdirAll(quarantine, 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range pending.MostRejected {
		for _, name := range []string{keptName("tool", fmt.Sprintf("%013d", n)), keptName("other", fmt.Sprintf("%013d", n))} {
			if err := errors.Join(os.WriteFile(filepath.Join(quarantine, name), nil, 0o600), os.WriteFile(filepath.Join(quarantine, name+".why"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	locked(t, w, func() {
		same("as many patches are rejected as may be", failed(t, w, add))
		if err := os.Remove(filepath.Join(quarantine, keptName("tool", fmt.Sprintf("%013d", 0)))); err != nil {
			t.Fatal(err)
		}
		update(t, w, ops(op("n", schema.VerbAdd, "1")))
	})
	if err := os.RemoveAll(quarantine); err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 20_000)
	locked(t, w, func() {
		for n := range 30 { // more than one version folds
			update(t, w, ops(op("tags", schema.VerbInsert, fmt.Sprintf(`"%d%s"`, n, large))))
		}
	})
	at(failpoint.FoldListed, func() {
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Error(err)
		}
	})
	same("a sidecar that cannot be replaced by the first of several versions", failed(t, w, add))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Fold(t.Context(), -1); err != nil { // an update folds for a moment only
		t.Fatal(err)
	}
	if got := values(t, w, "n")["n"]; got != "3" || len(pendingNames(t, w)) > 0 {
		t.Errorf("n is %s, and pending %v", got, pendingNames(t, w))
	}
}

// reseal gives the text of a patch the sum that it has.
func reseal(text string) string {
	const after = "\"}\n"
	end := len(text) - len(after) - sha256.Size*2
	zeros := text[:end] + strings.Repeat("0", sha256.Size*2) + after
	return fmt.Sprintf("%s%x%s", text[:end], sha256.Sum256([]byte(zeros)), after)
}

// tooMuchPending provokes what the caps refuse.
func tooMuchPending(t *testing.T, w *Writer, same func(how string, err error, replace ...string)) {
	t.Helper()
	a := openPending(t, w)
	more := func(how string, op Op) {
		t.Helper()
		locked(t, w, func() { same(how, failed(t, w, func(tx *Tx) { tx.Apply(op) })) })
	}
	more("too large", op("tags", schema.VerbInsert, `"`+strings.Repeat("x", pending.MaxSize)+`"`))
	if err := os.WriteFile(a.Path("x.0.json"), make([]byte, MaxPendingBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	more("too many bytes", op("n", schema.VerbAdd, "1"))
	for n := range MaxPending {
		if err := os.WriteFile(a.Path(fmt.Sprintf("x.%d.json", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	more("too many", op("n", schema.VerbAdd, "1"))
	for n := range statedir.MostPending - MaxPending + 1 {
		if err := os.WriteFile(a.Path(fmt.Sprintf("y.%d.json", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same("a flood of files", failed(t, w, func(tx *Tx) { tx.Apply(op("n", schema.VerbAdd, "1")) }))
	for n := range statedir.MostPending - MaxPending + 1 {
		a.Remove(fmt.Sprintf("y.%d.json", n))
	}
	for n := range MaxPending {
		a.Remove(fmt.Sprintf("x.%d.json", n))
	}
}
