package sidecar

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/go-json-experiment/json"
)

// FuzzPatch holds that a patch is carried out or refused, whatever it is; that
// what it leaves is in its one form and within the caps; and that the same
// values a second time change nothing.
func FuzzPatch(f *testing.F) {
	refusals, err := os.ReadFile("testdata/refusals.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(refusals)) {
		if strings.HasPrefix(line, "{") {
			f.Add([]byte("["+line+"]"), true)
		}
	}
	f.Add([]byte(`[{"field":"skills","op":"add","key":"deploy","member":"use_count","value":1},{"field":"labels","op":"insert","value":"x"}]`), true)
	f.Add([]byte(`[{"field":"skills","op":"insert","key":"a"},{"field":"skills","op":"delete","key":"a"},{"field":"skills","op":"raise","key":"a","member":"weight","value":-1}]`), false)
	f.Add([]byte(`[{"field":"seen","op":"raise","key":"\u2028","value":18446744073709551615},{"field":"extra","op":"set","value":null},{"field":"ports","op":"insert","value":-5}]`), true)
	dir := filepath.Join(f.TempDir(), "usage")
	if err := Create(dir, usage()); err != nil {
		f.Fatal(err)
	}
	writers := map[bool]*Writer{}
	for tool, owner := range map[bool]string{true: "tool", false: "creator"} {
		w, err := Open(f.Context(), dir, usage(), owner, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { w.Close() })
		writers[tool] = w
	}
	f.Fuzz(func(t *testing.T, text []byte, tool bool) {
		var patch Patch
		if json.Unmarshal(text, &patch, json.RejectUnknownMembers(true)) != nil {
			return
		}
		w := writers[tool]
		first := carryOut(w, document.New(w.owner, w.manifest.StateID), patch)
		if first == nil || first.Version.IsZero() {
			return // refused, or nothing to write
		}
		checkForm(t, w, first)
		if repeats(w, patch) {
			if second := carryOut(w, first, patch); second != first {
				t.Errorf("a patch without counters changed something the second time:\n%s\n%s", encoded(t, first), encoded(t, second))
			}
		}
	})
}

// keysSeen is what an Update of the tool finds of the creator's sidecar.
func keysSeen() map[string]*apply.Keys {
	doc := document.New("creator", "x")
	v := Version{Epoch: 1, Revision: 1, Nonce: "0000000000001"}
	doc.SetRows("skills", []document.Row{{Key: "", Value: []byte("{}"), Born: v}, {Key: "deploy", Value: []byte("{}"), Born: v}}, document.Provenance{Version: v, At: time.Unix(1, 0)})
	return map[string]*apply.Keys{"creator": apply.NewKeys("creator", doc, nil)}
}

// carryOut returns base with the patch in it, base itself if that changes
// nothing, and nil if it is refused.
func carryOut(w *Writer, base *document.Document, patch Patch) *document.Document {
	r := newRequest(nil)
	r.others = keysSeen()
	next := Version{Epoch: 1, Revision: base.Version.Revision + 1, Nonce: "0000000000002"}
	b := &batch{w: w, requests: []*request{r}, base: base, next: next, layer: apply.NewLayer(w.rules, base, next)}
	b.admit(r)
	for _, op := range patch {
		r.tx.Apply(op)
	}
	b.settle(r)
	switch {
	case r.err != nil:
		return nil
	case b.layer.Idle():
		return base
	}
	doc := b.document()
	if _, err := doc.Encode(); err != nil {
		return nil // too large
	}
	return doc
}

func encoded(t *testing.T, doc *document.Document) string {
	text, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkForm holds that the document reads back as it is, in its one form.
func checkForm(t *testing.T, w *Writer, doc *document.Document) {
	again, err := document.Decode([]byte(encoded(t, doc)))
	if err != nil {
		t.Fatalf("%v\n%s", err, encoded(t, doc))
	}
	for _, name := range again.Names() {
		f := w.declared.Fields[name]
		raw, _, _ := again.Field(name)
		if normal, err := f.Normalize(raw); err != nil || !bytes.Equal(normal, raw) {
			t.Errorf("field %s holds\n%s, which normalizes to (%v)\n%s", name, raw, err, normal)
		}
		if f.EffectiveKind() != schema.Map {
			continue
		}
		rows, err := again.Rows(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Born.IsZero() {
				t.Errorf("key %q of %s has no incarnation", row.Key, name)
			}
		}
	}
}

// repeats reports whether a patch does the same a second time: nothing in it
// adds up or comes and goes.
func repeats(w *Writer, patch Patch) bool {
	written := map[string]bool{}
	for _, op := range patch {
		p := op.Field + "\x00" + op.Key + "\x00" + op.Member
		if op.Verb == schema.VerbAdd || op.Verb == schema.VerbDelete || op.Verb == schema.VerbRemove || op.Verb == schema.VerbInsert && len(op.Value) > 0 || written[p] {
			return false
		}
		written[p] = true
	}
	return true
}
