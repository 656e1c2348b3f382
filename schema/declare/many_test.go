package declare_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/google/go-cmp/cmp"
)

// What one sidecar could not hold is refused where the owner is declared.
func TestMoreThanAFileHoldsIsRefused(t *testing.T) {
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "      f%d: {type: int}\n", i)
		}
		return "state: s\nowners:\n  a:\n    fields:\n      x: {type: int}\n  b:\n    fields:\n" + b.String()
	}
	if _, err := declare.Parse("owners.yaml", "owners/s", []byte(fields(schema.MaxFields))); err != nil {
		t.Errorf("%d fields: %.200v", schema.MaxFields, err)
	}
	_, err := declare.Parse("owners.yaml", "owners/s", []byte(fields(schema.MaxFields+1)))
	problems, _ := errors.AsType[declare.Problems](err)
	want := declare.Problems{{File: "owners.yaml", Line: 6, Col: 3, What: "owner b has 4096 fields, and its one file may have 4095: give some of them to another owner, or make a map of them"}}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}
