package document

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// Whatever the bytes are, decoding ends, and what decodes is JSON, writes the
// same content again and takes a commit.
func FuzzDecode(f *testing.F) {
	for _, commits := range []int{1, 3} {
		text, err := sample(commits).Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"$sidecar":{"format":1},"a":[{"b":"\ud83d\ude00"}]}`))
	f.Add([]byte(`{"$sidecar":{"format":2}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		readAlike(t, data)
		if d, err := DecodeForeign(data); err == nil {
			d.Owner, d.State = "cost", "x"
			check(t, d)
		}
		// The sum keeps a fuzzer out; seal what it made.
		text := bytes.Clone(data)
		d, sum, err := decode(text)
		if err != nil {
			return
		}
		seal(text, sum)
		if !jsontext.Value(text).IsValid() {
			t.Fatalf("decoded, and is not JSON:\n%s", text)
		}
		if _, err := Decode(text); err != nil {
			t.Fatalf("sealed, and does not decode: %v\n%s", err, text)
		}
		check(t, d)
	})
}

// check commits d and reads it again.
func check(t *testing.T, d *Document) {
	v := testVersion(1)
	d.Commit(v, testTime, testWriter)
	d.Set("turns", []byte("1"), by(v))
	text, err := d.Encode()
	if err != nil {
		return
	}
	again, err := Decode(text)
	if err != nil {
		t.Fatalf("Decode refuses what Encode wrote: %v\n%s", err, text)
	}
	if back, err := again.Encode(); err != nil || !bytes.Equal(back, text) {
		t.Fatalf("encoded again (%v)\n%s\nas\n%s", err, text, back)
	}
}
