package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Each case is one that some reader of JSON somewhere lets pass.
func TestDecodeErrorsNameTheByte(t *testing.T) {
	text := encode(t, sample(2))
	replace := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	turns := func(value string) string { return replace("\"turns\":12", value) }
	cases := []struct{ name, text string }{
		{"empty", ""},
		{"one newline", "\n"},
		{"white space", " \t\r\n "},
		{"NUL bytes", strings.Repeat("\x00", 512)},
		{"only a BOM", "\xef\xbb\xbf"},
		{"UTF-8 BOM", "\xef\xbb\xbf" + text},
		{"UTF-16 little endian", "\xff\xfe{\x00}\x00"},
		{"UTF-16 big endian", "\xfe\xff\x00{\x00}"},
		{"UTF-16 without BOM", "{\x00}\x00"},
		{"too long", strings.Repeat(" ", MaxSize) + "{}"},
		{"array", "[1,2]"},
		{"number", "7"},
		{"word", "nope"},
		{"cut in a name", `{"a`},
		{"cut after a colon", `{"a":`},
		{"no envelope", `{"turns":12}`},
		{"empty object", `{}`},
		{"trailing brace", text + "}"},
		{"trailing bracket", text + "]"},
		{"trailing object", text + "{}"},
		{"trailing word", text + " x"},
		{"trailing comma", text + ","},
		{"trailing NUL", text + "\x00"},
		{"comma before the end", replace("\n}\n", ",\n}\n")},
		{"duplicate field", turns(`"turns":12,"turns":13`)},
		{"duplicate field in escapes", turns(`"turns":12,"\u0074urns":13`)},
		{"duplicate below a field", turns(`"turns":{"a":1,"a":2}`)},
		{"duplicate envelope", turns(`"$sidecar":{},"turns":12`)},
		{"duplicate in the envelope", replace(`"format":1`, `"format":1,"format":1`)},
		{"names that differ in case", turns(`"turns":12,"Turns":13`)},
		{"names that differ in case beyond ASCII", turns("\"turns\":12,\"turn\u017f\":13")},
		{"envelope names that differ in case", replace(`"format":1`, `"format":1,"Format":1`)},
		{"writer names that differ in case", replace(`"program":"stop-hook","identity"`, `"program":"stop-hook","PROGRAM":"","identity"`)},
		{"a name like one that is absent", replace(`"format":1,`, `"format":1,"Folded":[],`)},
		{"invalid UTF-8 in a value", turns("\"turns\":\"a\xffb\"")},
		{"invalid UTF-8 in a name", turns("\"tu\xffrns\":12")},
		{"surrogate in UTF-8", turns("\"turns\":\"\xed\xa0\x80\"")},
		{"lone surrogate", turns(`"turns":"\ud800"`)},
		{"lone surrogate before a letter", turns(`"turns":"\udc00x"`)},
		{"surrogate before another escape", turns(`"turns":"\ud800\u0041"`)},
		{"unknown escape", turns(`"turns":"\x41"`)},
		{"control character", turns("\"turns\":\"a\nb\"")},
		{"NaN", turns(`"turns":NaN`)},
		{"Infinity", turns(`"turns":-Infinity`)},
		{"leading zero", turns(`"turns":012`)},
		{"leading plus", turns(`"turns":+12`)},
		{"hexadecimal", turns(`"turns":0x12`)},
		{"single quotes", turns(`'turns':12`)},
		{"bare name", turns(`turns:12`)},
		{"comment", turns("// twelve\n\"turns\":12")},
		{"too deep", turns(`"turns":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth))},
		{"absurdly deep", turns(`"turns":` + strings.Repeat("[", 100_000))},
		{"too many members", turns(members(MaxMembers) + `,"turns":12`)},
		{"too many members below a field", turns(`"turns":{` + members(MaxKeys+1) + `}`)},
		{"format missing", replace(`"format":1,`, ``)},
		{"format null", replace(`"format":1`, `"format":null`)},
		{"format a string", replace(`"format":1`, `"format":"1"`)},
		{"format 1.0", replace(`"format":1`, `"format":1.0`)},
		{"format 0", replace(`"format":1`, `"format":0`)},
		{"format newer", replace(`"format":1`, `"format":999`)},
		{"format newer, rest strange", replace(`"format":1,"owner":"cost"`, `"owner":[],"format":2`)},
		{"format newer, text broken", replace(`"format":1`, `"format":2,`)},
		{"envelope no object", `{"$sidecar":7}`},
		{"owner no name", replace(`"owner":"cost"`, `"owner":"../cost"`)},
		{"owner missing", replace(`"owner":"cost",`, ``)},
		{"owner a number", replace(`"owner":"cost"`, `"owner":1`)},
		{"state empty", replace(`"state":"5s0h000000000"`, `"state":""`)},
		{"epoch after the year 2112", replace(`"epoch":1786439564031000`, `"epoch":4503599627370497`)},
		{"epoch negative", replace(`"epoch":1786439564031000`, `"epoch":-1`)},
		{"epoch a fraction", replace(`"epoch":1786439564031000`, `"epoch":1.5`)},
		{"epoch rounded by other readers", replace(`"epoch":1786439564031000`, `"epoch":9007199254740993`)},
		{"nonce of another alphabet", replace(`"nonce":"0000000000002","revision"`, `"nonce":"000000000000z","revision"`)},
		{"instant without zone", replace(`"written_at":"2026-08-11T09:12:44.031Z"`, `"written_at":"2026-08-11T09:12:44.031"`)},
		{"instant of the year 1", replace(`"written_at":"2026-08-11T09:12:44.031Z"`, `"written_at":"0001-01-01T00:00:00Z"`)},
		{"writer missing", replace(`"writer":`, `"wroter":`)},
		{"process id negative", replace(`"pid":4711,"start"`, `"pid":-4711,"start"`)},
		{"entry a string", replace(`"turns":{"version":"1786439564031000.2.0000000000002","at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711}`, `"turns":"x"`)},
		{"entry without version", replace(`"turns":{"version":"1786439564031000.2.0000000000002",`, `"turns":{`)},
		{"entry with an odd version", replace(`"turns":{"version":"1786439564031000.2.`, `"turns":{"version":"1786439564031000.02.`)},
		{"recent an object", replace(`"recent":["0000000000001","0000000000002"]`, `"recent":{}`)},
		{"recent with a number", replace(`"recent":["0000000000001"`, `"recent":["0000000000001",1`)},
		{"recent with a quote in it", replace(`"recent":["0000000000001"`, `"recent":["00000000000\""`)},
		{"recent of another alphabet", replace(`"recent":["0000000000001"`, `"recent":["000000000000z"`)},
		{"recent of another alphabet, with white space", replace(`"recent":["0000000000001"`, `"recent":[ "000000000000Z"`)},
		{"folded of another alphabet", replace(`"recent":[`, `"folded":["00000000000-1"],"recent":[`)},
		{"sum missing", text[:strings.Index(text, `,"sum"`)] + text[strings.Index(text, `,"sum"`)+len(`,"sum":""`)+sumDigits:]},
		{"sum short", replace(`"sum":"`, `"sum":"","s":"`)},
		{"sum upper case", text[:strings.Index(text, `"sum":"`)+7] + strings.Repeat("A", sumDigits) + text[strings.Index(text, `"sum":"`)+7+sumDigits:]},
	}
	var got strings.Builder
	for _, c := range cases {
		_, err := Decode([]byte(c.text))
		var syntax *SyntaxError
		switch newer := strings.HasPrefix(c.name, "format newer") && errors.Is(err, status.Newer); {
		case newer == errors.As(err, &syntax), newer == errors.Is(err, status.Invalid):
			t.Errorf("%s: got %v, want a *SyntaxError that is Invalid, or Newer", c.name, err)
			continue
		}
		fmt.Fprintf(&got, "%s: %v\n", c.name, err)
	}
	golden(t, "errors.txt", got.String())
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return b.String()[1:]
}

// What exceeds no cap and breaks no rule must not be refused: an error here
// takes a whole owner away.
func TestDecodeTakesWhatIsAllowed(t *testing.T) {
	for name, value := range map[string]string{
		"as deep as allowed":         strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1),
		"many objects, none deep":    "[" + strings.Repeat("{},", 200) + "{}]",
		"as many members as allowed": "{" + members(MaxKeys) + "}",
		"many colons, few members":   `"` + strings.Repeat(":", 2*MaxKeys) + `"`,
		"brackets in a string":       `"` + strings.Repeat("{[", MaxDepth) + `"`,
		"case differs below a field": `{"a":1,"A":2}`,
		"replacement character":      "\"\ufffd\"",
		"surrogate pair":             `"\ud83d\ude00"`,
		"escaped NUL":                `"\u0000"`,
	} {
		text := edited(t, `"turns":12`, `"turns":`+value)
		d, err := Decode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if raw, _, _ := d.Field("turns"); string(raw) != value {
			t.Errorf("%s: Field returned %.100s, want %.100s", name, raw, value)
		}
	}
}

func TestWhiteSpaceAfterTheObjectIsCoveredByTheSum(t *testing.T) {
	text := encode(t, sample(2))
	if _, err := Decode([]byte(text + "\n\n  \t")); !errors.Is(err, status.Foreign) {
		t.Errorf("white space added by another hand: got %v, want status.Foreign", err)
	}
	if _, err := Decode([]byte(resealed(t, text+"\n\n  \t"))); err != nil {
		t.Errorf("white space under the sum: %v", err)
	}
}

func TestAnotherHandIsForeignNotInvalid(t *testing.T) {
	text := encode(t, sample(2))
	for name, edit := range map[string]string{
		"a value":            strings.Replace(text, `"turns":12`, `"turns":13`, 1),
		"a value's type":     strings.Replace(text, `"turns":12`, `"turns":"thirteen"`, 1),
		"a field more":       strings.Replace(text, `"turns":12`, `"turns":12,"mine":1`, 1),
		"a name's case":      strings.Replace(text, `"turns":12`, `"TURNS":12`, 1),
		"who wrote it":       strings.Replace(text, `stop-hook`, `good-hook`, 1),
		"white space":        strings.ReplaceAll(text, ",", ", "),
		"an older revision":  strings.Replace(text, `"revision":2`, `"revision":1`, 1),
		"the line ends":      strings.ReplaceAll(text, "\n", "\r\n"),
		"an unknown member":  strings.Replace(text, `"format":1`, `"format":1,"x":0`, 1),
		"an escape for text": strings.Replace(text, `"stop-hook"`, `"stop\u002dhook"`, 1),
	} {
		if edit == text {
			t.Fatalf("%s: the edit changed nothing", name)
		}
		if _, err := Decode([]byte(edit)); !errors.Is(err, status.Foreign) {
			t.Errorf("%s: got %v, want status.Foreign", name, err)
		}
	}
}

func TestBelongsTellsACopiedSidecar(t *testing.T) {
	d := sample(1)
	if err := d.Belongs("cost", "5s0h000000000"); err != nil {
		t.Errorf("its own: %v", err)
	}
	for _, other := range [][2]string{{"reset", "5s0h000000000"}, {"cost", "another"}} {
		if err := d.Belongs(other[0], other[1]); !errors.Is(err, status.Foreign) {
			t.Errorf("Belongs(%q): got %v, want status.Foreign", other, err)
		}
	}
}
