package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEncodeGolden(t *testing.T) {
	d := sample(2)
	d.Set("zero", []byte("0"), by(d.Version))
	d.Set("empty", []byte(`""`), by(d.Version))
	golden(t, "cost.json", encode(t, d))
}

// What is in a document, as its readers see it.
type content struct {
	Owner, State string
	Version      Version
	WrittenAt    time.Time
	Writer       Writer
	Recent       []string
	Names        []string
	Values       map[string]string
	By           map[string]Provenance
	Rows         map[string][]Row
	Observed     []Sighting
	Open         map[string][]Opening
	Folded       []string
}

func contentOf(d *Document) content {
	c := content{d.Owner, d.State, d.Version, d.WrittenAt, d.Writer, d.Recent(), d.Names(), map[string]string{}, map[string]Provenance{}, map[string][]Row{}, slices.Collect(d.Sightings()), map[string][]Opening{}, d.Folded()}
	for _, name := range append(d.Names(), fieldNames...) {
		raw, by, ok := d.Field(name)
		if raw != nil {
			c.Values[name] = string(raw)
		}
		if rows, err := d.Rows(name); err == nil {
			c.Rows[name] = rows
		}
		if open := d.Open(name); open != nil {
			c.Open[name] = open
		}
		if ok {
			c.By[name] = by
		}
	}
	return c
}

var fieldNames = []string{"a", "b", "c", "turns", "note_2", "z"}

// Whatever is done to a document through its methods, either Encode says why
// it cannot be written, or Decode gives it back; and what was decoded encodes
// to the same bytes.
func TestDecodeInvertsEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := New(rapid.SampledFrom([]string{"cost", "a", "Cost", ""}).Draw(t, "owner"), rapid.SampledFrom([]string{"5s0h000000000", "x", "", "\xff"}).Draw(t, "state"))
		for range rapid.IntRange(0, 6).Draw(t, "commits") {
			mutate(t, d)
			d = reread(t, d)
		}
	})
}

func mutate(t *rapid.T, d *Document) {
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		sec := rapid.OneOf(rapid.Int64Range(0, 4e9), rapid.Int64()).Draw(t, "seconds")
		return time.Unix(sec%1e12, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
	})
	v := Version{
		Epoch:    rapid.OneOf(rapid.Uint64Max(MaxEpoch), rapid.Uint64()).Draw(t, "epoch"),
		Revision: rapid.Uint64Max(MaxEpoch+1).Draw(t, "revision"),
		Nonce:    rapid.StringMatching(`[0-9a-v]{13}|[0-9a-z]{13}|.{0,3}`).Draw(t, "nonce"),
	}
	program := rapid.OneOf(rapid.String(), rapid.Just("a\xffb"), rapid.Just(`x","pid":1}`), rapid.Just(`\"`)).Draw(t, "program")
	w := Writer{Program: program, Identity: testWriter.Identity}
	w.Identity.PIDFD = rapid.Uint64().Draw(t, "pidfd")
	w.Identity.PID = rapid.Int().Draw(t, "pid")
	d.Commit(v, instant.Draw(t, "written at"), w)
	p := Provenance{v, instant.Draw(t, "at"), program, rapid.IntRange(-1, maxPID).Draw(t, "writer's pid")}
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		name := rapid.SampledFrom(append(fieldNames, "A", "$x", "")).Draw(t, "field")
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			d.Clear(name, p)
		case 1:
			d.Set(name, []byte(value.Draw(t, "value")), p)
		default:
			d.SetRows(name, rows.Draw(t, "rows"), p)
		}
	}
}

// rows draws what a map may hold.
var rows = rapid.Custom(func(t *rapid.T) []Row {
	key := rapid.OneOf(rapid.SampledFrom(oddKeys), rapid.String())
	var rows []Row
	for _, k := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(key, 0, 4, rapid.ID[string]).Draw(t, "keys"))) {
		row := Row{Key: k, Value: []byte(rapid.SampledFrom([]string{"1", `"}"`, "{}", `{"a":[1,{"b":"]\\\""}]}`, "null"}).Draw(t, "value"))}
		if rapid.Bool().Draw(t, "born") {
			row.Born = testVersion(rapid.Uint64Range(1, 9).Draw(t, "incarnation"))
		}
		rows = append(rows, row)
	}
	return rows
})

// oddKeys are keys that have been mistaken for each other, for paths, for
// escapes or for something that a program has already.
var oddKeys = []string{
	"a/b", "a.b", "a b", "a-b", "a_b", "a:b", "a%2Fb", "A_b", "构建", "发版", "\u00e9", "e\u0301", "A.1", "A.2", "A", "A.json", ".A",
	"__proto__", "constructor", "toString", "hasOwnProperty", "$sidecar", "keys", `"`, `\`, `\"`, "{", "}", "[", ",", ":", " ", "\u2028",
}

var value = rapid.OneOf(
	rapid.SampledFrom([]string{"null", "true", "0", "-0", "1E400", "9007199254740993", "1.0", `""`, "[]", "{}", `{"a":1,"A":[2]}`, " 7 ", "[1, 2]", "", "{", "1 2", `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 63) + strings.Repeat("]", 63)}),
	rapid.Map(rapid.String(), func(s string) string { return fmt.Sprintf("%q", s) }),
	rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
)

// reread returns what Decode makes of d's text, or an empty document if d
// cannot be written.
func reread(t *rapid.T, d *Document) *Document {
	text, err := d.Encode()
	if err != nil {
		if text != nil {
			t.Fatalf("Encode returned an error and text: %v", err)
		}
		return New("cost", "x")
	}
	again, err := Decode(text)
	if err != nil {
		t.Fatalf("Decode refuses what Encode wrote: %v\n%s", err, text)
	}
	want := contentOf(d)
	want.WrittenAt = want.WrittenAt.UTC()
	for name, p := range want.By {
		p.At = p.At.UTC()
		want.By[name] = p
	}
	if diff := cmp.Diff(want, contentOf(again)); diff != "" {
		t.Fatalf("decoded differs (-written +read):\n%s\n%s", diff, text)
	}
	if back, err := again.Encode(); err != nil || string(back) != string(text) {
		t.Fatalf("encoding the decoded document (%v) made of\n%s\nthis:\n%s", err, text, back)
	}
	return again
}

func TestAppendEncodeAppends(t *testing.T) {
	d := sample(2)
	want := encode(t, d)
	got, err := d.AppendEncode([]byte("before"))
	if err != nil || string(got) != "before"+want {
		t.Errorf("got %v and\n%s", err, got)
	}
	d.Owner = ""
	if got, err := d.AppendEncode([]byte("before")); err == nil || string(got) != "before" {
		t.Errorf("after an error: got %v and %q", err, got)
	}
}

func TestEncodeRefusesWhatCannotBeRead(t *testing.T) {
	v := testVersion(1)
	cases := []struct {
		name string
		do   func(*Document)
	}{
		{"never committed", func(d *Document) { *d = *New("cost", "x") }},
		{"a version without nonce", func(d *Document) { d.Version.Nonce = "" }},
		{"an epoch out of range", func(d *Document) { d.Version.Epoch = MaxEpoch + 1 }},
		{"no time", func(d *Document) { d.WrittenAt = time.Time{} }},
		{"the year 10000", func(d *Document) { d.WrittenAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"a program that is not UTF-8", func(d *Document) { d.Writer.Program = "a\xff" }},
		{"a negative process id", func(d *Document) { d.Writer.Identity.PID = -1 }},
		{"an owner that is no name", func(d *Document) { d.Owner = "Cost" }},
		{"no state", func(d *Document) { d.State = "" }},
		{"a field that is no name", func(d *Document) { d.Set("Turns", []byte("1"), by(v)) }},
		{"a field named like the envelope", func(d *Document) { d.Set("$sidecar", []byte("1"), by(v)) }},
		{"no value", func(d *Document) { d.Set("turns", nil, by(v)) }},
		{"no JSON", func(d *Document) { d.Set("turns", []byte("NaN"), by(v)) }},
		{"two values", func(d *Document) { d.Set("turns", []byte("1,\"x\":2"), by(v)) }},
		{"a duplicate name", func(d *Document) { d.Set("turns", []byte(`{"a":1,"a":2}`), by(v)) }},
		{"a field without provenance", func(d *Document) { d.Set("turns", []byte("1"), Provenance{}) }},
		{"a cleared field without provenance", func(d *Document) { d.Clear("turns", Provenance{}) }},
		{"too much", func(d *Document) { d.Set("turns", []byte(`"`+strings.Repeat("x", MaxSize)+`"`), by(v)) }},
		{"too many fields", func(d *Document) {
			for i := range MaxMembers {
				d.Set(fmt.Sprint("f", i), []byte("1"), by(v))
			}
		}},
	}
	var got strings.Builder
	for _, c := range cases {
		d := sample(1)
		c.do(d)
		text, err := d.Encode()
		if err == nil {
			t.Errorf("%s: Encode wrote\n%.300s", c.name, text)
			continue
		}
		fmt.Fprintf(&got, "%s: %v\n", c.name, err)
	}
	golden(t, "encode_errors.txt", got.String())
}

// A name that differs only in case from an unknown one would make the file
// unreadable.
func TestEncodeRefusesNamesThatDifferInCase(t *testing.T) {
	d, err := Decode([]byte(edited(t, `"turns":12`, `"turns":12,"COUNT":1`)))
	if err != nil {
		t.Fatal(err)
	}
	encode(t, d)
	d.Set("count", []byte("1"), by(d.Version))
	if _, err := d.Encode(); err == nil || !strings.Contains(err.Error(), `"COUNT"`) {
		t.Errorf("got %v, want an error that names both", err)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	d := sample(300)
	before := encode(t, d)
	c := d.Clone()
	v := testVersion(301)
	c.Commit(v, testTime, testWriter)
	c.Set("turns", []byte("99"), by(v))
	c.Set("new", []byte("1"), by(v))
	c.Clear("note", by(v))
	if got := encode(t, d); got != before {
		t.Errorf("changing the clone changed the original:\n%s", got)
	}
	if _, err := Decode([]byte(encode(t, c))); err != nil {
		t.Errorf("the clone: %v", err)
	}
}

func TestClearedFieldsKeepTheirProvenance(t *testing.T) {
	d, err := Decode([]byte(encode(t, sample(2))))
	if err != nil {
		t.Fatal(err)
	}
	raw, p, ok := d.Field("cleared")
	if raw != nil || !ok || p.Version != d.Version {
		t.Errorf("a cleared field: got %q, %+v, %v", raw, p, ok)
	}
	if raw, p, ok := d.Field("never"); raw != nil || ok || p != (Provenance{}) {
		t.Errorf("a field that was never written: got %q, %+v, %v", raw, p, ok)
	}
	if _, _, ok := d.Field("$sidecar"); ok {
		t.Error("the envelope is a field")
	}
}

func TestRecentKeepsTheLast256(t *testing.T) {
	for _, commits := range []int{1, 2, 255, 256, 257, 600} {
		d, err := Decode([]byte(encode(t, sample(commits))))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for n := max(1, commits-MaxRecent+1); n <= commits; n++ {
			want = append(want, nonceOf(uint64(n)))
		}
		if diff := cmp.Diff(want, d.Recent()); diff != "" {
			t.Errorf("after %d commits (-want +got):\n%s", commits, diff)
		}
		if !d.Remembers(d.Version.Nonce) || d.Remembers(nonceOf(uint64(commits-MaxRecent))) || d.Remembers("") || d.Remembers(`","`) {
			t.Errorf("after %d commits Remembers is wrong", commits)
		}
	}
	if got := New("cost", "x").Recent(); len(got) != 0 {
		t.Errorf("a new document remembers %q", got)
	}
}

// However many patches a commit folds, it remembers the commits before: none
// that was seen shortly before looks as if it had never been.
func TestPatchesTakeNoPlaceOfTheLastCommits(t *testing.T) {
	for _, patches := range []int{1, 127, 256, 900} {
		d, commits := New("cost", "5s0h000000000"), []string(nil)
		for n := range uint64(400) {
			v := testVersion(n + 1)
			d.Commit(v, testTime, testWriter)
			var ids []string
			for i := range patches {
				ids = append(ids, nonceOf(1<<20+n*1000+uint64(i)))
			}
			if n%7 != 3 {
				d.SetFolded(ids, ids)
			}
			commits = append(commits, v.Nonce)
			recent, sure := d.Recent(), min(len(commits), SureRecent)
			if diff := cmp.Diff(commits[len(commits)-sure:], recent[max(0, len(recent)-sure):]); diff != "" || len(recent) > MaxRecent {
				t.Fatalf("%d patches each: after %d commits the last are (-want +got):\n%s", patches, n+1, diff)
			}
			if n%7 != 3 && !d.Remembers(ids[patches-1]) {
				t.Fatalf("%d patches each: after %d commits the last patch is forgotten", patches, n+1)
			}
			for m := range n + 1 {
				if seen := testVersion(m + 1); d.Behind(seen) {
					t.Fatalf("%d patches each: %v is taken for an older copy of %v", patches, v, seen)
				}
			}
			if other := (Version{Epoch: v.Epoch, Revision: max(1, v.Revision-min(n, SureRecent-1)), Nonce: nonceOf(1 << 40)}); !d.Behind(other) {
				t.Fatalf("%d patches each: %v, of another history, is not missed in %v", patches, other, v)
			}
		}
		if got, err := Decode([]byte(encode(t, d))); err != nil || !slices.Equal(got.Recent(), d.Recent()) {
			t.Errorf("%d patches each: it is not read as it was written (%v)", patches, err)
		}
	}
}

// A newer release may lay the list out differently; what it says is the same.
func TestRecentInAnotherLayout(t *testing.T) {
	d, err := Decode([]byte(edited(t, `"recent":["0000000000001","0000000000002"]`, `"recent":[ "000000000000\u0031" , "0000000000002" ]`)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{nonceOf(1), nonceOf(2)}, d.Recent()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
