package pending

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameText holds values to be equal that differ in white space and escapes, for
// those are written in one way.
var sameText = cmp.FilterValues(
	func(a, b jsontext.Value) bool { return len(a)+len(b) > 0 },
	cmp.Transformer("Format", func(v jsontext.Value) string {
		v = v.Clone()
		if err := v.Format(); err != nil {
			return err.Error()
		}
		return string(v)
	}))

// FuzzPatch holds that the file of a pending patch is read or
// refused, whatever it says under a sum that is right; and that what is read
// is written as it was.
func FuzzPatch(f *testing.F) {
	const name, owner, state = "0000000000001.json", "tool", "0000000000000000000000000"
	p := Patch{
		ID: "0000000000001", At: time.Unix(1_800_000_000, 1).UTC(),
		Writer: document.Writer{Program: "hook", Identity: process.Identity{PID: 7, Nonce: "n"}},
		Ops: apply.Patch{
			{Field: "seen", Verb: apply.VerbRaise, Key: "k", Value: []byte("1")},
			{Field: "skills", Verb: apply.VerbAdd, Key: "deploy", Member: "use_count", At: document.Version{Epoch: 1, Revision: 1, Nonce: "0000000000001"}, Value: []byte("1")},
			{Field: "labels", Verb: apply.VerbInsert, Value: []byte(`"a"`)},
		},
	}
	whole, err := p.Encode(owner, state)
	if err != nil {
		f.Fatal(err)
	}
	body := whole[:len(whole)-len(sumBefore)-len(noSum)-len(sumAfter)]
	f.Add(body)
	f.Add([]byte(`{"format":1,"owner":"tool","state":"0000000000000000000000000","id":"0000000000001","at":"0001-01-01T00:00:01Z","ops":[]`))
	for _, cut := range [][2]string{{`"raise"`, `"set"`}, {`"format":1`, `"format":2`}, {`"ops":[`, `"ops":[{},`}, {`"id":"0000000000001"`, `"id":"../x"`}, {`"value":1`, `"value":{"a":[1]}`}, {`"key":"k"`, `"key":"k","at":"1.1."`}} {
		f.Add(bytes.Replace(body, []byte(cut[0]), []byte(cut[1]), 1))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		raw := seal(bytes.Join([][]byte{body, sumBefore, []byte(noSum), sumAfter}, nil))
		p, err := Decode(raw, name, owner, state)
		if err != nil {
			if !errors.Is(err, status.Foreign) && !errors.Is(err, status.Newer) {
				t.Fatalf("the error says neither whose it is nor how new: %v", err)
			}
			return
		}
		again, err := p.Encode(owner, state)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		q, err := Decode(again, name, owner, state)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, again)
		}
		if diff := cmp.Diff(p, q, cmpopts.IgnoreUnexported(Patch{}), cmpopts.IgnoreFields(Patch{}, "Raw"), cmpopts.EquateEmpty(), sameText); diff != "" {
			t.Errorf("written and read again (-first +second):\n%s", diff)
		}
	})
}
