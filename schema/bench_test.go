package schema

import (
	"fmt"
	"testing"
)

// wide returns a declaration of n owners, each with ten fields, of which one
// depends on a field of the owner before.
func wide(n int) *Declaration {
	d := &Declaration{State: "wide", Owners: map[string]Owner{}}
	for i := range n {
		fields := map[string]Field{}
		for j := range 10 {
			fields[fmt.Sprintf("f%d_%d", i, j)] = Field{Type: TypeUint, Doc: "A number."}
		}
		if i > 0 {
			fields[fmt.Sprintf("d%d", i)] = Field{Type: TypeUint, DependsOn: []string{fmt.Sprintf("f%d_0", i-1)}}
		}
		d.Owners[fmt.Sprintf("owner%d", i)] = Owner{Doc: "An owner.", Fields: fields}
	}
	return d
}

// Opening a state parses its manifest: the time is linear in the owners.
func BenchmarkParseManifest(b *testing.B) {
	for _, owners := range []int{1, 10, 100} {
		m := &Manifest{Format: ManifestFormat, StateID: "0123456789abcdefghijklmnop", Locks: map[string]uint64{"state.lock": 1}, Declaration: *wide(owners)}
		text, err := m.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("owners=%d", owners), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseManifest(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
