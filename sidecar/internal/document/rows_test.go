package document

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

func TestRowsAreSortedWhateverTheFileSays(t *testing.T) {
	d := sample(1)
	d.Set("skills", []byte(`{ "b":1,"a\/": {"x":[ 1 ]},"a":"}" }`), by(d.Version))
	rows, err := d.Rows("skills")
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{{Key: "a", Value: []byte(`"}"`)}, {Key: "a/", Value: []byte(`{"x":[1]}`)}, {Key: "b", Value: []byte("1")}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestRowsOfWhatIsNoMapAreAnError(t *testing.T) {
	d := sample(1)
	if _, err := d.Rows("turns"); !errors.Is(err, status.Invalid) || !strings.Contains(err.Error(), "turns must be an object") {
		t.Errorf("rows of a number: %v", err)
	}
	for _, field := range []string{"cleared", "never"} {
		if rows, err := d.Rows(field); len(rows) > 0 || err != nil {
			t.Errorf("rows of the field %s: %v, %v", field, rows, err)
		}
	}
}

// Every key comes back as the text that it was, with its own row.
func TestOddKeysStayApart(t *testing.T) {
	var want []Row
	for i, key := range slices.Sorted(slices.Values(oddKeys)) {
		want = append(want, Row{key, []byte(strings.Repeat("1", i+1)), testVersion(uint64(i + 1))})
	}
	d := sample(1)
	d.SetRows("skills", want, by(d.Version))
	again, err := Decode([]byte(encode(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Rows("skills")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// A map that is written without its incarnations, or cleared, keeps those that
// it had: only SetRows says what they are.
func TestIncarnationsStayUntilRowsAreSet(t *testing.T) {
	d := sample(1)
	d.SetRows("skills", []Row{{"deploy", []byte("{}"), testVersion(1)}}, by(d.Version))
	d = reencoded(t, d)
	d.Set("skills", []byte(`{"deploy":{"uses":1},"new":{}}`), by(d.Version))
	d = reencoded(t, d)
	rows, err := d.Rows("skills")
	want := []Row{{"deploy", []byte(`{"uses":1}`), testVersion(1)}, {"new", []byte("{}"), Version{}}}
	if diff := cmp.Diff(want, rows); diff != "" || err != nil {
		t.Errorf("rows (%v) (-want +got):\n%s", err, diff)
	}
	d.SetRows("skills", nil, by(d.Version))
	if text := encode(t, d); strings.Contains(text, "keys") || !strings.Contains(text, "\"skills\":{}") {
		t.Errorf("without rows:\n%s", text)
	}
}

func reencoded(t *testing.T, d *Document) *Document {
	t.Helper()
	again, err := Decode([]byte(encode(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestIncarnationsAreVersions(t *testing.T) {
	d := sample(1)
	d.SetRows("skills", []Row{{"deploy", []byte("{}"), testVersion(1)}}, by(d.Version))
	text := encode(t, d)
	const keys = `"keys":{"deploy":"1786439564031000.1.0000000000001"}`
	if !strings.Contains(text, keys) {
		t.Fatalf("no incarnation in\n%s", text)
	}
	for bad, want := range map[string]string{
		`"keys":[]`:                    "keys must be an object, not an array",
		`"keys":null`:                  "keys must be an object, not null",
		`"keys":{"deploy":1}`:          `the incarnation of key "deploy" must be EPOCH.REVISION.NONCE in quotes, not 1`,
		`"keys":{"deploy":"1.2"}`:      `the incarnation of key "deploy" must be`,
		`"keys":{"deploy":"1.2.3",`:    "invalid character",
		`"keys":{"a":"1.2.0","a":"1"}`: `duplicate name "a"`,
	} {
		_, err := Decode([]byte(strings.Replace(text, keys, bad, 1)))
		if !errors.Is(err, status.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", bad, err, want)
		}
	}
}
