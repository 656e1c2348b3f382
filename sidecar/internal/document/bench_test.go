package document

import (
	"fmt"
	"testing"
)

// full is a sidecar of twelve fields whose list of recent commits is full:
// about 6 KB.
func full(b *testing.B) *Document {
	d := New("cost", "5s0h000000000")
	for i := range 300 {
		v := testVersion(uint64(i + 1))
		d.Commit(v, testTime, testWriter)
		d.Set(fmt.Sprint("field_", i%12), fmt.Append(nil, i), by(v))
	}
	return d
}

func BenchmarkDecode(b *testing.B) {
	text, err := full(b).Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendEncode(b *testing.B) {
	d := full(b)
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if text, err = d.AppendEncode(text[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
