package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A kind that is new says how its values are upgraded, or this fails.
func TestEveryKindSaysHowItIsUpgraded(t *testing.T) {
	for _, kind := range Kinds() {
		if manners[kind] == unknownManner {
			t.Errorf("kind %s is missing in manners: say how its stored values are converted", kind)
		}
	}
	unknown := Field{Type: TypeInt, Kind: "unheard-of"}
	if _, _, misfits := unknown.Convert(Field{Type: TypeInt}, []byte("1")); len(misfits) != 1 {
		t.Error("a kind that nobody knows was converted")
	}
}

// Case by case, a value becomes what stands for the same thing, or is refused.
func TestConversionIsExactOrRefused(t *testing.T) {
	var (
		list   = func(of Field) Field { return Field{Type: TypeList, Of: &of} }
		set    = func(t Type) Field { return Field{Type: t, Kind: Set} }
		of     = func(t Type) Field { return Field{Type: t} }
		enum   = func(values ...string) Field { return Field{Type: TypeEnum, Values: values} }
		record = func(fields map[string]Field) Field { return Field{Type: TypeRecord, Fields: fields} }
		table  = func(v Field) Field { return Field{Kind: Map, Value: &v} }
	)
	for _, c := range []struct {
		name     string
		from, to Field
		raw      string
		want     string
		misfit   string // the pointer of the one misfit, or "none"
	}{
		{"the same", of(TypeInt), of(TypeInt), `7`, `7`, "none"},
		{"another kind", Field{Type: TypeUint, Kind: Counter}, Field{Type: TypeUint, Kind: Max}, `7`, `7`, "none"},
		{"uint to int", of(TypeUint), of(TypeInt), `9223372036854775807`, `9223372036854775807`, "none"},
		{"uint too large for int", of(TypeUint), of(TypeInt), `9223372036854775808`, ``, ""},
		{"negative to uint", of(TypeInt), of(TypeUint), `-1`, ``, ""},
		{"int to decimal", of(TypeInt), of(TypeDecimal), `-7`, `"-7"`, "none"},
		{"whole decimal to int", of(TypeDecimal), of(TypeInt), `"7"`, `7`, "none"},
		{"decimal to int", of(TypeDecimal), of(TypeInt), `"7.5"`, ``, ""},
		{"decimal to float", of(TypeDecimal), of(TypeFloat), `"0.1"`, `0.1`, "none"},
		{"a decimal that a float rounds", of(TypeDecimal), of(TypeFloat), `"0.10000000000000000001"`, ``, ""},
		{"an int that a float rounds", of(TypeInt), of(TypeFloat), `9007199254740993`, ``, ""},
		{"float to decimal", of(TypeFloat), of(TypeDecimal), `1e21`, `"1000000000000000000000"`, "none"},
		{"a float beyond decimals", of(TypeFloat), of(TypeDecimal), `1e300`, ``, ""},
		{"text to float", of(TypeString), of(TypeFloat), `"1.50"`, `1.5`, "none"},
		{"text with a monstrous exponent", of(TypeString), of(TypeFloat), `"1e-999999999"`, ``, ""},
		{"text to decimal", of(TypeString), of(TypeDecimal), `"1.50"`, `"1.5"`, "none"},
		{"text to int", of(TypeString), of(TypeInt), `"12"`, `12`, "none"},
		{"text that is no int", of(TypeString), of(TypeInt), `"twelve"`, ``, ""},
		{"text to an instant", of(TypeString), of(TypeTime), `"2026-08-11T11:12:44+02:00"`, `"2026-08-11T09:12:44Z"`, "none"},
		{"an instant to text", of(TypeTime), of(TypeString), `"2026-08-11T09:12:44Z"`, `"2026-08-11T09:12:44Z"`, "none"},
		{"bool to text", of(TypeBool), of(TypeString), `true`, `"true"`, "none"},
		{"bool to int", of(TypeBool), of(TypeInt), `true`, ``, ""},
		{"duration to int", of(TypeDuration), of(TypeInt), `"1s"`, ``, ""},
		{"an enum with more", enum("a"), enum("b", "a"), `"a"`, `"a"`, "none"},
		{"an enum with less", enum("a", "b"), enum("a"), `"a"`, `"a"`, "none"},
		{"an enum without the value", enum("a", "b"), enum("a"), `"b"`, ``, ""},
		{"enum to text", enum("a"), of(TypeString), `"a"`, `"a"`, "none"},
		{"text to enum", of(TypeString), enum("a"), `"b"`, ``, ""},
		{"anything to json", list(of(TypeInt)), of(TypeJSON), `[1]`, `[1]`, "none"},
		{"json to a record", of(TypeJSON), record(map[string]Field{"n": of(TypeInt)}), `{"n":1}`, `{"n":1}`, "none"},
		{"null is only json", of(TypeJSON), of(TypeString), `null`, ``, ""},
		{"list of others", list(of(TypeInt)), list(of(TypeString)), `[1,2]`, `["1","2"]`, "none"},
		{"one element does not fit", list(of(TypeString)), list(of(TypeInt)), `["1","x"]`, ``, "/1"},
		{"set to list", set(TypeInt), list(of(TypeInt)), `[1,2]`, `[1,2]`, "none"},
		{"list in order to set", list(of(TypeInt)), set(TypeInt), `[1,2]`, `[1,2]`, "none"},
		{"list out of order to set", list(of(TypeInt)), set(TypeInt), `[2,1]`, ``, ""},
		{"list with one twice to set", list(of(TypeInt)), set(TypeInt), `[1,1]`, ``, ""},
		{"set of others is in their order", set(TypeInt), set(TypeString), `[9,10]`, `["10","9"]`, "none"},
		{
			"record", record(map[string]Field{"a": of(TypeInt), "gone": of(TypeInt), "n": of(TypeUint)}),
			record(map[string]Field{"b": {Type: TypeString, Was: "a"}, "n": of(TypeDecimal), "fresh": of(TypeInt)}),
			`{"a":1,"gone":2,"n":3,"unknown":{"x":1.0}}`, `{"b":"1","n":"3","unknown":{"x":1.0}}`, "none",
		},
		{"a former name in use says nothing", record(map[string]Field{"a": of(TypeInt)}), record(map[string]Field{"a": of(TypeInt), "b": {Type: TypeInt, Was: "a"}}), `{"a":1}`, `{"a":1}`, "none"},
		{"deep inside", table(list(record(map[string]Field{"n": of(TypeString)}))), table(list(record(map[string]Field{"n": of(TypeInt)}))), `{"a/b":[{"n":"1"},{"n":"x"}]}`, ``, "/a~1b/1/n"},
		{"map of others", table(of(TypeInt)), table(of(TypeString)), `{"k":1}`, `{"k":"1"}`, "none"},
		{"list to record", list(of(TypeInt)), record(map[string]Field{"n": of(TypeInt)}), `[1]`, ``, ""},
		{"an uint that is text, to text", of(TypeUint), of(TypeString), `"12"`, ``, ""},
		{"an uint that is text, to an int", of(TypeUint), of(TypeInt), `"12"`, ``, ""},
		{"an uint that is text, to json", of(TypeUint), of(TypeJSON), `"12"`, ``, ""},
		{"no value of an enum that has it now", enum("a"), enum("a", "b"), `"b"`, ``, ""},
		{"no value of an enum, before and after", enum("a"), enum("a", "b"), `"c"`, `"c"`, "none"},
		{"what is wrong and stays so", of(TypeUint), of(TypeUint), `"12"`, `"12"`, "none"},
		{"one element that is text", list(of(TypeInt)), list(of(TypeString)), `[1,"2"]`, ``, ""},
		{"a member that is text", record(map[string]Field{"n": of(TypeInt)}), record(map[string]Field{"n": of(TypeString)}), `{"n":"1"}`, ``, "/n"},
		{"a member that is wrong and goes", record(map[string]Field{"n": of(TypeInt), "a": of(TypeInt)}), record(map[string]Field{"a": of(TypeInt)}), `{"a":1,"n":"1"}`, `{"a":1}`, "none"},
		{"value to set", of(TypeInt), set(TypeInt), `1`, ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, misfits := c.from.Convert(c.to, []byte(c.raw))
			if c.misfit == "none" {
				if string(got) != c.want || len(misfits) > 0 {
					t.Errorf("got %s (%v), want %s", got, misfits, c.want)
				}
				return
			}
			var at []string
			for _, m := range misfits {
				at = append(at, string(m.Pointer))
				if m.Why == "" {
					t.Error("no reason is given")
				}
			}
			if diff := cmp.Diff([]string{c.misfit}, at); diff != "" {
				t.Errorf("misfits (-want +got):\n%s; it became %s", diff, got)
			}
		})
	}
}

// What a record has no member for any more is returned, wherever it was.
func TestConvertSaysWhatItLeavesOut(t *testing.T) {
	port := Field{Type: TypeUint}
	before := Field{Type: TypeList, Of: &Field{Type: TypeRecord, Fields: map[string]Field{"host": {Type: TypeString}, "port": port, "free": port}}}
	after := Field{Type: TypeList, Of: &Field{Type: TypeRecord, Fields: map[string]Field{"name": {Type: TypeString, Was: "host"}}}}
	_, left, misfits := before.Convert(after, []byte(`[{"host":"a","other":1,"port":80},{"host":"b"},{"port":1}]`))
	want := []LeftOut{{Pointer: "/0/port", Value: []byte("80"), Field: port}, {Pointer: "/2/port", Value: []byte("1"), Field: port}}
	if diff := cmp.Diff(want, left); diff != "" || len(misfits) > 0 {
		t.Errorf("left out (-want +got):\n%s%v", diff, misfits)
	}
}
