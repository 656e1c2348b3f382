package sidecar

import (
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func targetField(tx *Tx) Value[target] { return ValueOf(tx, "target", schema.RecordOf[target]()) }

func hostsField(tx *Tx) Value[[]target] {
	return ValueOf(tx, "hosts", schema.ListOf(schema.RecordOf[target]()))
}

func setExtra(text string) func(*Tx) {
	return func(tx *Tx) { ValueOf(tx, "extra", schema.JSON).Set(jsontext.Value(text)) }
}

func TestARecordIsWrittenWhole(t *testing.T) {
	s := newUsage(t)
	s.update("tool", func(tx *Tx) {
		targetField(tx).Set(target{Host: schema.Some("db1"), Port: schema.Some[uint64](0)})
	})
	s.wantStored("tool", map[string]string{"target": `{"host":"db1","port":0}`})
	s.update("tool", func(tx *Tx) {
		v, ok := targetField(tx).Get()
		if host, set := v.Host.Get(); host != "db1" || !set || !ok {
			t.Errorf("got %+v, %v", v, ok)
		}
		targetField(tx).Set(target{Port: schema.Some[uint64](5432)})
	})
	s.wantStored("tool", map[string]string{"target": `{"port":5432}`})
	s.update("tool", func(tx *Tx) { targetField(tx).Set(target{}) })
	s.wantStored("tool", map[string]string{"target": `{}`})
	s.update("tool", func(tx *Tx) { targetField(tx).Clear() })
	s.wantStored("tool", map[string]string{})
}

// Zero, false, empty and null are values; only what is left out is unset.
func TestWhatIsEmptyIsNotUnset(t *testing.T) {
	s := newUsage(t)
	s.update("tool", func(tx *Tx) {
		ValueOf(tx, "tags", schema.ListOf(schema.String)).Set(nil)
		hostsField(tx).Set([]target{{}, {Host: schema.Some("")}})
		targetField(tx).Set(target{})
		setExtra("null")(tx)
	})
	want := map[string]string{"tags": `[]`, "hosts": `[{},{"host":""}]`, "target": `{}`, "extra": `null`}
	s.wantStored("tool", want)
	s.update("tool", func(tx *Tx) {
		CounterOf(tx, "turns", schema.Uint).Add(0)
		if v, ok := ValueOf(tx, "extra", schema.JSON).Get(); string(v) != "null" || !ok {
			t.Errorf("extra is %s, %v", v, ok)
		}
		if v, ok := ValueOf(tx, "tags", schema.ListOf(schema.String)).Get(); v == nil || len(v) > 0 || !ok {
			t.Errorf("tags are %#v, %v", v, ok)
		}
	})
	want["turns"] = "0"
	s.wantStored("tool", want)
}

func TestJSONKeepsItsDigitsAndEscapes(t *testing.T) {
	s := newUsage(t)
	for _, text := range []string{
		`{"__proto__":{"x":1},"constructor":2,"toString":3}`, `{"a":9007199254740993,"b":1.0,"c":1E400,"d":-0,"é\u0041":"\u2028"}`,
		`[[],{},"",null,false,0]`, `"x"`,
	} {
		s.update("tool", setExtra(text))
		s.wantStored("tool", map[string]string{"extra": text})
		if c := s.update("tool", setExtra(" "+text+"\n")); c.Outcome != Unchanged {
			t.Errorf("%s with white space is %v", text, c.Outcome)
		}
	}
	for text, says := range map[string]string{
		`{"a":1,"a":2}`: "without a name twice", `{`: "one valid JSON value", `1 2`: "one valid JSON value", ``: "one valid JSON value",
		"\"\xff\"": "one valid JSON value", nested(49): "deeper than the 48 allowed",
	} {
		s.fails("tool", ErrValue, setExtra(text), "field extra", says)
	}
	s.update("tool", setExtra(nested(48)))
}

func nested(depth int) string {
	text := make([]byte, 2*depth)
	for i := range depth {
		text[i], text[2*depth-1-i] = '[', ']'
	}
	return string(text)
}

// What a newer release has put into a record goes where its value goes, also
// through a program that reads it, changes what it knows and writes it back.
func TestUnknownMembersTravelWithTheirRecord(t *testing.T) {
	s := newUsage(t)
	const odd = `"zone_\u0031":{"r":1.0,"z":-0}`
	s.update("tool", func(tx *Tx) {
		hostsField(tx).Set([]target{{Host: schema.Some("a")}, {Host: schema.Some("b")}})
		targetField(tx).Set(target{Host: schema.Some("c")})
	})
	s.edit("tool", `{"host":"b"}`, `{"host":"b",`+odd+`}`)
	s.accept("tool")
	s.edit("tool", `{"host":"c"}`, `{`+odd+`,"host":"c"}`)
	s.accept("tool")
	s.update("tool", func(tx *Tx) {
		hosts, _ := hostsField(tx).Get()
		hosts[0], hosts[1] = hosts[1], hosts[0]
		hosts[0].Port = schema.Some[uint64](22)
		hostsField(tx).Set(hosts)
		targetField(tx).Set(target{Port: schema.Some[uint64](80)})
	})
	s.wantStored("tool", map[string]string{
		"hosts":  `[{"host":"b","port":22,` + odd + `},{"host":"a"}]`,
		"target": `{"port":80,` + odd + `}`,
	})
}

func (s usageState) accept(owner string) {
	s.Helper()
	c, err := Accept(s.Context(), s.dir, owner, nil)
	if err != nil || c.Outcome != Applied {
		s.Fatalf("accept: %v, %v", c, err)
	}
}

func TestASetHasEachElementOnceInOrder(t *testing.T) {
	s := newUsage(t)
	labels := func(tx *Tx) Set[string] { return SetOf(tx, "labels", schema.String) }
	ports := func(tx *Tx) Set[int64] { return SetOf(tx, "ports", schema.Int) }
	s.update("tool", func(tx *Tx) {
		for _, label := range []string{"b", "a", "é", "b", "B", "e\u0301", "\u2028"} {
			labels(tx).Insert(label)
		}
		for _, port := range []int64{10, 9, -1, 10} {
			ports(tx).Insert(port)
		}
		labels(tx).Remove("a")
		labels(tx).Remove("never")
	})
	s.wantStored("tool", map[string]string{"labels": "[\"B\",\"b\",\"e\u0301\",\"é\",\"\u2028\"]", "ports": "[-1,9,10]"})
	c := s.update("tool", func(tx *Tx) {
		if !labels(tx).Has("b") || labels(tx).Has("a") {
			t.Error("b is not in the set, or a is")
		}
		if diff := cmp.Diff([]int64{-1, 9, 10}, ports(tx).All()); diff != "" {
			t.Errorf("ports (-want +got):\n%s", diff)
		}
		labels(tx).Insert("b")
		ports(tx).Remove(7)
	})
	if c.Outcome != Unchanged {
		t.Errorf("what changes nothing is %v", c.Outcome)
	}
	s.update("tool", func(tx *Tx) {
		for _, port := range ports(tx).All() {
			ports(tx).Remove(port)
		}
	})
	if got := s.stored("tool")["ports"]; got != "[]" {
		t.Errorf("an emptied set is %s", got)
	}
	s.fails("tool", ErrValue, func(tx *Tx) { labels(tx).Insert("\xff") }, "field labels", "UTF-8")
	s.fails("tool", ErrValue, func(tx *Tx) { labels(tx).Has("\xff") }, "field labels", "UTF-8")
	s.fails("tool", ErrValue, func(tx *Tx) {
		for i := range int64(16385) {
			ports(tx).Insert(i)
		}
	}, "more than the 16384 elements allowed: remove some")
}
