package document

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// agree fails unless what the fast reader makes of text, if anything, is what
// the strict one makes of it, and what is written of it is text again.
func agree(t *testing.T, text []byte) {
	t.Helper()
	fast, fastSum, ok := usual(text)
	if !ok {
		return
	}
	strict, sum, err := decodeAny(text)
	if err != nil || sum != fastSum {
		t.Fatalf("usual takes what is wrong (%v), or finds the sum at %d, not %d:\n%s", err, fastSum, sum, text)
	}
	if diff := cmp.Diff(contentOf(strict), contentOf(fast)); diff != "" {
		t.Fatalf("usual reads something else (-strict +usual):\n%s\n%s", diff, text)
	}
	want := bytes.Clone(text)
	seal(want, sum)
	for _, d := range []*Document{fast, strict} {
		if got, err := d.Encode(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("written again (%v)\n%s\nas\n%s", err, want, got)
		}
	}
}

func TestUsualReadsWhatEncodeWrites(t *testing.T) {
	for commits := range 300 {
		d := sample(commits + 1)
		d.Set("note", []byte(`"é\n"`), by(d.Version))
		d.Set("load", []byte(`-1.50E+1`), by(d.Version))
		d.Writer.Identity.PIDNamespace = uint64(commits % 2)
		d.Writer.Identity.Boot = "boot"[:commits%3]
		d.Observe("turns", observed(commits%3))
		text := []byte(encode(t, d))
		if _, _, ok := usual(text); !ok {
			t.Fatalf("not read:\n%s", text)
		}
		agree(t, text)
	}
	if _, _, ok := usual([]byte(encode(t, bare()))); !ok {
		t.Error("a sidecar without fields is not read")
	}
}

// bare returns the document of a commit that wrote no field.
func bare() *Document {
	d := New("cost", "x")
	d.Commit(testVersion(1), testTime, testWriter)
	return d
}

func TestUsualTakesNothingThatIsWrong(t *testing.T) {
	d := sample(2)
	d.Observe("turns", observed(2))
	d.SetFolded([]string{nonceOf(9)}, nil)
	text := []byte(encode(t, d))
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			agree(t, text)
			text[i] ^= 1 << bit
		}
		for _, insert := range []string{" ", "\n", ",", `"`, `\`, "0", "-", "}", "{", "]", "\x00", "\x7f", "\xff", "é", "turns", "null"} {
			agree(t, fmt.Appendf(nil, "%s%s%s", text[:i], insert, text[i:]))
		}
		agree(t, text[:i])
		agree(t, append(bytes.Clone(text[:i]), text[i+1:]...))
		for j := i + 1; j < min(len(text), i+40); j++ {
			agree(t, append(bytes.Clone(text[:i]), text[j:]...))
		}
	}
	for _, value := range []string{"null", " 1", "1 ", "1\t", "01", "-0", "1,", `"a","b":1`, `"`, `""`, `"\"`, `"a"b"`, `"\ud800"`, "\"\x80\"", "[]", "{}", "tru", "true", "nul", "1e400", "1e", ""} {
		agree(t, bytes.Replace(text, []byte(`"turns":12`), []byte(`"turns":`+value), 1))
	}
	for _, program := range []string{`}`, `{"`, `\u0041`, "é", "\x1f", ""} {
		agree(t, bytes.ReplaceAll(text, []byte("stop-hook"), []byte(program)))
	}
	agree(t, bytes.Replace(text, []byte(`"note":"`), []byte(`"turns":"`), 1))
	agree(t, bytes.Replace(text, []byte(`"note":{`), []byte(`"turns":{`), 1))
}

func FuzzUsualAgrees(f *testing.F) {
	for commits := range 3 {
		text, err := sample(commits + 1).Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	d := sample(1)
	d.Observe("turns", observed(2))
	d.Begin("note", nonceOf(7), by(d.Version))
	d.SetFolded([]string{nonceOf(9)}, nil)
	text, err := d.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(agree)
}

func TestIsASCII(t *testing.T) {
	for n := range 20 {
		text := bytes.Repeat([]byte{'~'}, n)
		for i := range n {
			for c := range 256 {
				text[i] = byte(c)
				if got, want := isASCII(text), c >= ' ' && c < 0x80; got != want {
					t.Fatalf("%q: got %v, want %v", text, got, want)
				}
			}
			text[i] = ' '
		}
	}
}

func TestFoldedIDsSurviveWritingAndReading(t *testing.T) {
	d := sample(3)
	var want []string
	for n := range MaxFolded + 5 {
		want = append(want, fmt.Sprintf("%013d", n))
	}
	d.SetFolded(want, want[:2])
	want = want[5:]
	text := []byte(encode(t, d))
	if _, _, ok := usual(text); !ok {
		t.Error("the fast reader does not read it")
	}
	agree(t, text)
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Folded()); diff != "" {
		t.Errorf("folded (-want +got):\n%s", diff)
	}
	if !got.HasFolded(want[0]) || got.HasFolded("0123456789abc") || !got.Remembers("0000000000001") {
		t.Error("an id is not found, or one is that is not there")
	}
	got.SetFolded(nil, nil)
	if text := encode(t, got); bytes.Contains([]byte(text), []byte(`"folded"`)) {
		t.Errorf("an empty list is written:\n%s", text)
	}
}
