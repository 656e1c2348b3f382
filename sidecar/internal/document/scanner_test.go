package document

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// walked returns the value as the scanner reads it: objects as their members,
// the elements of an array and other values as their text.
func walked(text []byte) any {
	s := scanner{text: text}
	s.skipSpace()
	if text[s.pos] != '{' {
		return string(s.value())
	}
	object := map[string]any{}
	pairs(text, func(key, value []byte) { object[string(unquoteName(key))] = walked(value) })
	return object
}

// parsed returns the value as jsontext reads it, in the form of walked.
func parsed(t *testing.T, text jsontext.Value) any {
	if text.Kind() != jsontext.KindBeginObject {
		return string(bytes.Trim(text, " \t\r\n"))
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	for name, value := range members {
		object[name] = parsed(t, value)
	}
	return object
}

// readAlike fails unless the scanner finds in a valid text the members that
// jsontext finds, and a document in it is the same when read again.
func readAlike(t *testing.T, text []byte) {
	t.Helper()
	if !jsontext.Value(text).IsValid() || checkFile(text) != nil {
		return
	}
	if diff := cmp.Diff(parsed(t, text), walked(text)); diff != "" {
		t.Fatalf("members (-jsontext +scanner):\n%s\n%s", diff, text)
	}
	d, _, err := decode(bytes.Clone(text))
	if err != nil {
		return
	}
	written, err := d.Encode()
	if err != nil {
		t.Fatalf("decoded, and cannot be encoded: %v\n%s", err, text)
	}
	again, err := Decode(written)
	if err != nil {
		t.Fatalf("encoded, and does not decode: %v\n%s", err, written)
	}
	if diff := cmp.Diff(contentOf(d), contentOf(again)); diff != "" {
		t.Fatalf("encoded and decoded (-before +after):\n%s\n%s", diff, written)
	}
}

func TestScannerReadsMutationsAsTheLibraryDoes(t *testing.T) {
	d := New("cost", "x")
	d.Commit(testVersion(1), testTime, testWriter)
	d.Set("note", []byte(`"é \\ \" \u2028"`), by(d.Version))
	d.Observe("note", observed(2))
	d.SetFolded([]string{nonceOf(9)}, nil)
	d.Begin("note", nonceOf(7), by(d.Version))
	d.SetRows("skills", []Row{{"a", []byte(`{"n":[1,{"b":"]\\\""}]}`), testVersion(1)}}, by(d.Version))
	text := []byte(encode(t, d))
	for i := range text {
		for _, bit := range []byte{1, 16} {
			text[i] ^= bit
			readAlike(t, text)
			text[i] ^= bit
		}
		for _, insert := range []string{" ", "\n", ",", `"`, `\`, "0", "}", "]", "\x7f", "é"} {
			readAlike(t, fmt.Appendf(nil, "%s%s%s", text[:i], insert, text[i:]))
		}
		for j := i; j < min(len(text), i+8); j++ {
			readAlike(t, append(bytes.Clone(text[:i]), text[j:]...))
		}
	}
	for _, value := range []string{"null", " 1", "1\t", "-0", `""`, `"\"`, `"\\"`, `"\\\""`, "[]", "{}", "[ ]", "{ }", "true", "1e400", `"\u0022"`, "\"\u2028\"", `{"\\":"\\"}`} {
		for _, old := range []string{`"é`, `"stop-hook"`, `{"n":`} {
			readAlike(t, bytes.Replace(text, []byte(old), []byte(value), 1))
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
	got := redecode(t, d)
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
