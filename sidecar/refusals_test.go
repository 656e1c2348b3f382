package sidecar

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

var updateGoldens = flag.Bool("update", false, "write the golden files anew")

// TestEveryRefusalHasItsMessage holds what Apply says about operations that
// make no sense, and that none of them changes anything.
func TestEveryRefusalHasItsMessage(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.update("tool", use)
	before := s.text("tool")
	w := s.open("tool")
	var got strings.Builder
	for _, text := range []string{
		`{"field":"nothing","op":"set","value":1}`,
		`{"field":"target","op":"set","value":{"hots":"a"}}`,
		`{"field":"target","op":"set","value":{"port":-1}}`,
		`{"field":"target","op":"set","value":{"port":null}}`,
		`{"field":"target","op":"set","value":[]}`,
		`{"field":"target","op":"raise","value":{}}`,
		`{"field":"target","op":"set","key":"a","value":{}}`,
		`{"field":"target","op":"set","member":"host","value":"a"}`,
		`{"field":"hosts","op":"set","value":[{"host":"a"},{"port":1,"zone":2}]}`,
		`{"field":"hosts","op":"set","value":["a"]}`,
		`{"field":"tags","op":"set","value":["a",1]}`,
		`{"field":"tags","op":"set","value":"a"}`,
		`{"field":"tags","op":"insert","value":"a"}`,
		`{"field":"extra","op":"set"}`,
		`{"field":"extra","op":"clear","value":1}`,
		`{"field":"labels","op":"set","value":["a"]}`,
		`{"field":"labels","op":"insert","value":1}`,
		`{"field":"labels","op":"insert"}`,
		`{"field":"labels","op":"delete","value":"a"}`,
		`{"field":"labels","op":"insert","key":"a","value":"a"}`,
		`{"field":"seen","op":"raise","value":1}`,
		`{"field":"seen","op":"raise","key":"a","value":"1"}`,
		`{"field":"seen","op":"add","key":"a","value":1}`,
		`{"field":"seen","op":"raise","key":"a","member":"x","value":1}`,
		`{"field":"seen","op":"insert","key":"a"}`,
		`{"field":"seen","op":"delete","key":"a","value":1}`,
		`{"field":"seen","op":"delete","key":"a","at":"1.1.0000000000000"}`,
		`{"field":"seen","op":"jump","key":"a","value":1}`,
		`{"field":"skills","op":"add","key":"absent","member":"use_count","value":1}`,
		`{"field":"skills","op":"add","key":"deploy","value":1}`,
		`{"field":"skills","op":"add","key":"deploy","member":"use_cuont","value":1}`,
		`{"field":"skills","op":"add","key":"deploy","member":"pinned","value":1}`,
		`{"field":"skills","op":"set","key":"deploy","member":"use_count","value":1}`,
		`{"field":"skills","op":"add","key":"deploy","member":"use_count","value":18446744073709551615}`,
		`{"field":"skills","op":"set","key":"deploy","member":"target","value":{"hots":"a"}}`,
		`{"field":"skills","op":"delete","key":"deploy"}`,
		`{"field":"skills","op":"insert","key":"deploy"}`,
	} {
		var op Op
		if err := json.Unmarshal([]byte(text), &op, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		_, err := w.Update(t.Context(), func(tx *Tx) error {
			tx.Apply(op)
			return nil
		})
		if err == nil {
			t.Errorf("%s is applied", text)
		}
		fmt.Fprintf(&got, "%s\n\t%s\n", text, strings.ReplaceAll(fmt.Sprint(err), s.dir, "DIR"))
	}
	if s.text("tool") != before {
		t.Errorf("something changed:\n%s", s.text("tool"))
	}
	golden(t, "testdata/refusals.txt", got.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *updateGoldens {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); run the test with -update if that is meant:\n%s", file, diff)
	}
}
