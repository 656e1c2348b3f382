package schema

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

var enumField = Field{Type: TypeEnum, Values: []string{"dead-process", "pane-frozen"}}

func TestNormalizeHasOneFormForEachValue(t *testing.T) {
	for _, tc := range []struct {
		field Field
		raw   string
		want  string // empty: refused
	}{
		{Field{Type: TypeBool}, `true`, `true`},
		{Field{Type: TypeBool}, `"true"`, ``},
		{Field{Type: TypeBool}, `null`, ``},
		{Field{Type: TypeInt}, `-9223372036854775808`, `-9223372036854775808`},
		{Field{Type: TypeInt}, `9223372036854775807`, `9223372036854775807`},
		{Field{Type: TypeInt}, `9223372036854775808`, ``},
		{Field{Type: TypeInt}, `1.0`, ``},
		{Field{Type: TypeInt}, `1e3`, ``},
		{Field{Type: TypeInt}, `-0`, ``},
		{Field{Type: TypeInt}, `007`, ``},
		{Field{Type: TypeInt}, `"5"`, ``},
		{Field{Type: TypeInt}, ``, ``},
		{Field{Type: TypeInt}, `-`, ``},
		{Field{Type: TypeUint}, `18446744073709551615`, `18446744073709551615`},
		{Field{Type: TypeUint}, `18446744073709551616`, ``},
		{Field{Type: TypeUint}, `-1`, ``},
		{Field{Type: TypeFloat}, `0.10`, `0.1`},
		{Field{Type: TypeFloat}, `1e400`, ``},
		{Field{Type: TypeFloat}, `NaN`, ``},
		{Field{Type: TypeFloat}, `Infinity`, ``},
		{Field{Type: TypeDecimal}, `"12.50"`, `"12.5"`},
		{Field{Type: TypeDecimal}, `"-0.0"`, `"0"`},
		{Field{Type: TypeDecimal}, `"1e3"`, `"1000"`},
		{Field{Type: TypeDecimal}, `"1e999999999"`, ``},
		{Field{Type: TypeDecimal}, `"1e-999999999"`, ``},
		{Field{Type: TypeDecimal}, `"0.10000000000000000000000000000000000000001"`, ``},
		{Field{Type: TypeDecimal}, `12.5`, ``},
		{Field{Type: TypeDecimal}, `".5"`, ``},
		{Field{Type: TypeDecimal}, `"−5"`, ``}, // U+2212, which the library takes
		{Field{Type: TypeString}, `"a\u00e9"`, `"aé"`},
		{Field{Type: TypeString}, `"\ud800"`, ``},
		{Field{Type: TypeString}, "\"\xff\"", ``},
		{Field{Type: TypeString}, `"�"`, `"�"`},
		{Field{Type: TypeString}, `""`, `""`},
		{Field{Type: TypeTime}, `"2026-08-11T10:12:44.031000+01:00"`, `"2026-08-11T09:12:44.031Z"`},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44,031Z"`, ``},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44.0123456789Z"`, ``},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44"`, ``},
		{Field{Type: TypeTime}, `"2026-08-11T9:12:44Z"`, ``},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44.5+23:59"`, `"2026-08-10T09:13:44.5Z"`},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44+24:00"`, ``},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44-24:00"`, ``},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44+10:60"`, ``},
		{Field{Type: TypeTime}, `"2026-08-11T09:12:44+25:00"`, ``},
		{Field{Type: TypeTime}, `"10000-01-01T00:00:00Z"`, ``},
		{Field{Type: TypeTime}, `"0001-01-01T00:00:00Z"`, ``},
		{Field{Type: TypeDuration}, `"90s"`, `"1m30s"`},
		{Field{Type: TypeDuration}, `"90"`, ``},
		{Field{Type: TypeDuration}, `90`, ``},
		{enumField, `"pane-frozen"`, `"pane-frozen"`},
		{enumField, `"pane_frozen"`, ``},
		{enumField, `""`, ``},
		{Field{Type: "blob"}, `"x"`, ``},
	} {
		t.Run(string(tc.field.Type)+" "+tc.raw, func(t *testing.T) {
			got, err := tc.field.Normalize([]byte(tc.raw))
			if tc.want == "" {
				if err == nil {
					t.Fatalf("accepted as %s", got)
				}
				return
			}
			if err != nil || string(got) != tc.want {
				t.Fatalf("got %s (%v), want %s", got, err, tc.want)
			}
			if again, err := tc.field.Normalize(got); err != nil || string(again) != tc.want {
				t.Errorf("normalized again: %s (%v)", again, err)
			}
		})
	}
}

func TestParseReadsWhatTextPrints(t *testing.T) {
	for _, tc := range []struct {
		field Field
		text  string
	}{
		{Field{Type: TypeBool}, "false"}, {Field{Type: TypeInt}, "-5"}, {Field{Type: TypeUint}, "0"},
		{Field{Type: TypeFloat}, "0.5"}, {Field{Type: TypeDecimal}, "-12.5"}, {Field{Type: TypeString}, "it's \"so\"\n"},
		{Field{Type: TypeString}, ""}, {Field{Type: TypeTime}, "2026-08-11T09:12:44.031Z"},
		{Field{Type: TypeDuration}, "1m30s"}, {enumField, "dead-process"},
	} {
		raw, err := tc.field.Parse(tc.text)
		if err != nil {
			t.Errorf("%s %q: %v", tc.field.Type, tc.text, err)
			continue
		}
		if got := tc.field.Text(raw); got != tc.text {
			t.Errorf("%s %q came back as %q", tc.field.Type, tc.text, got)
		}
	}
	for _, tc := range []struct {
		field Field
		text  string
	}{
		{Field{Type: TypeFloat}, "NaN"}, {Field{Type: TypeFloat}, "Infinity"}, {Field{Type: TypeFloat}, "1e999"},
		{Field{Type: TypeFloat}, "0x1p4"}, {Field{Type: TypeString}, "a\xffb"}, {Field{Type: TypeBool}, "True"},
		{Field{Type: TypeString}, strings.Repeat("x", MaxString+1)}, {Field{Type: TypeInt}, " 1"},
	} {
		if raw, err := tc.field.Parse(tc.text); err == nil {
			t.Errorf("%s %.20q was accepted as %.40s", tc.field.Type, tc.text, raw)
		}
	}
}

func TestCodecsRefuseWhatCannotBeStored(t *testing.T) {
	if _, err := Float.Append(nil, math.NaN()); err == nil {
		t.Error("NaN was stored")
	}
	if _, err := Time.Append(nil, time.Time{}); err == nil {
		t.Error("the zero time was stored")
	}
	if _, err := Time.Append(nil, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("the year 10000 was stored")
	}
	for _, text := range []string{`"0000-01-01T00:00:00Z"`, `"0001-01-01T00:00:00+01:00"`, `"9999-12-31T23:59:59-01:00"`} {
		if v, err := Time.Decode([]byte(text)); err == nil {
			t.Errorf("%s was read as %v, which cannot be stored", text, v)
		}
	}
	if _, err := Decimal.Append(nil, decimal.New(1, math.MaxInt32)); err == nil {
		t.Error("1e2147483647 was stored")
	}
	if _, err := String.Append(nil, "\xff"); err == nil {
		t.Error("invalid UTF-8 was stored")
	}
}

func TestSumsAreExactOrRefused(t *testing.T) {
	for _, tc := range []struct {
		typ        Type
		a, b, want string // empty: overflow
	}{
		{TypeInt, "9223372036854775806", "1", "9223372036854775807"},
		{TypeInt, "9223372036854775807", "1", ""},
		{TypeInt, "-9223372036854775808", "-1", ""},
		{TypeInt, "5", "-7", "-2"},
		{TypeUint, "18446744073709551614", "1", "18446744073709551615"},
		{TypeUint, "18446744073709551615", "1", ""},
		{TypeDecimal, `"0.1"`, `"0.2"`, `"0.3"`},
		{TypeDecimal, `"9007199254740993"`, `"0.0000000001"`, `"9007199254740993.0000000001"`},
		{TypeDecimal, `"` + strings.Repeat("9", MaxDecimalDigits) + `"`, `"1"`, ""},
		{TypeDuration, `"1m"`, `"-30s"`, `"30s"`},
		{TypeDuration, `"2562047h47m16.854775807s"`, `"1ns"`, ""},
	} {
		got, err := Field{Type: tc.typ}.Sum([]byte(tc.a), []byte(tc.b))
		if tc.want == "" {
			if !errors.Is(err, ErrOverflow) {
				t.Errorf("%s + %s: got %s (%v), want ErrOverflow", tc.a, tc.b, got, err)
			}
			continue
		}
		if err != nil || string(got) != tc.want {
			t.Errorf("%s + %s: got %s (%v), want %s", tc.a, tc.b, got, err, tc.want)
		}
	}
	if _, err := (Field{Type: TypeFloat}).Sum([]byte("0.1"), []byte("0.2")); err == nil {
		t.Error("doubles were summed as if that were exact")
	}
}

func TestCompareOrdersInstantsNotTheirSpelling(t *testing.T) {
	early, late := `"2026-08-11T10:00:00+02:00"`, `"2026-08-11T09:00:00Z"`
	if got, err := (Field{Type: TypeTime}).Compare([]byte(early), []byte(late)); err != nil || got >= 0 {
		t.Errorf("order %d (%v), want negative", got, err)
	}
	if _, err := (Field{Type: TypeString}).Compare([]byte(`"a"`), []byte(`"b"`)); err == nil {
		t.Error("strings were ordered")
	}
}

func TestIntegersSurviveAtEveryMagnitude(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		raw, err := Int.Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Int.Decode(raw); err != nil || back != v {
			t.Fatalf("%d came back as %d (%v)", v, back, err)
		}
	})
}

func TestStringsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.String().Draw(t, "v")
		raw, err := String.Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := String.Decode(raw); err != nil || back != v {
			t.Fatalf("%q came back as %q (%v)", v, back, err)
		}
	})
}

// What Text returns of any stored value, Parse takes back.
func TestTextIsTheInverseOfParse(t *testing.T) {
	for _, test := range []struct {
		field Field
		raws  []string
	}{
		{Field{Type: TypeJSON}, []string{`"1"`, `1`, `"null"`, `null`, `"a\nb"`, `["x"]`, `{"a":"b"}`}},
		{Field{Type: TypeString}, []string{`"1"`, `""`, `"\"quoted\""`, `"a\nb"`}},
		{Field{Type: TypeEnum, Values: []string{"dead"}}, []string{`"dead"`}},
		{Field{Type: TypeDecimal}, []string{`"12.5"`}},
		{Field{Type: TypeTime}, []string{`"2026-08-11T09:12:44.031Z"`}},
		{Field{Type: TypeDuration}, []string{`"1m30s"`}},
		{Field{Type: TypeInt}, []string{`-7`}},
		{Field{Type: TypeBool}, []string{`true`}},
		{Field{Type: TypeFloat}, []string{`0.5`}},
		{Field{Type: TypeString, Kind: Set}, []string{`["a","b"]`, `[]`}},
		{Field{Type: TypeJSON, Kind: Value}, []string{`"\"1\""`}},
		{Field{Type: TypeList, Of: &Field{Type: TypeJSON}}, []string{`["1",1]`}},
		{Field{Kind: Map, Value: &Field{Type: TypeJSON}}, []string{`{"a":"1"}`}},
	} {
		for _, raw := range test.raws {
			text := test.field.Text([]byte(raw))
			if back, err := test.field.Parse(text); err != nil || string(back) != raw {
				t.Errorf("%s of type %s, kind %s is typed as %s, which is %s (%v)", raw, test.field.Type, test.field.EffectiveKind(), text, back, err)
			}
		}
	}
}
