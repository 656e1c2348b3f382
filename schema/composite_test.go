package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// A host is what package gen makes of the record target.
type host struct {
	Host Optional[string]
	Port Optional[uint64]
	More Optional[jsontext.Value]
	rest Rest
}

func (v *host) JSONMembers() Members {
	return MembersOf(&v.rest, MemberOf("host", String, &v.Host), MemberOf("port", Uint, &v.Port), MemberOf("more", JSON, &v.More))
}

func TestRecordsReadBackAsTheyWere(t *testing.T) {
	for _, want := range []string{
		`{}`, `{"host":""}`, `{"host":"a","port":0}`, `{"more":null,"port":18446744073709551615}`, `{"more":{"b":[1.0]}}`,
		`{"host":"a","zone":{"r":1.0,"z\u0031":-0}}`,
	} {
		v, err := RecordOf[host]().Decode([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := RecordOf[host]().Append([]byte("x"), v); string(got) != "x"+want || err != nil {
			t.Errorf("%s became %s, %v", want, got, err)
		}
		if got, err := target.Normalize([]byte(want)); string(got) != want || err != nil {
			t.Errorf("%s normalizes to %s, %v", want, got, err)
		}
	}
	raw, err := ListOf(RecordOf[host]()).Append(nil, []host{{Port: Some[uint64](1)}, {}})
	if string(raw) != `[{"port":1},{}]` || err != nil {
		t.Errorf("a list: %s, %v", raw, err)
	}
}

func TestCodecsOfPartsNameWhatDoesNotFit(t *testing.T) {
	for says, err := range map[string]error{
		"member host: invalid UTF-8":             second(RecordOf[host]().Append(nil, host{Host: Some("\xff")})),
		"member port: want an integer":           second(RecordOf[host]().Decode([]byte(`{"port":"1"}`))),
		"want an object":                         second(RecordOf[host]().Decode([]byte(`[]`))),
		"element 1: invalid UTF-8":               second(ListOf(String).Append(nil, []string{"a", "\xff"})),
		"element 1: member host: want a string":  second(ListOf(RecordOf[host]()).Decode([]byte(`[{},{"host":1}]`))),
		"want a list":                            second(ListOf(String).Decode([]byte(`{}`))),
		"16385 elements are more than the 16384": second(ListOf(Bool).Append(nil, make([]bool, MaxElements+1))),
		"more than the 16384 elements":           second(ListOf(Bool).Decode([]byte("[" + strings.Repeat("true,", MaxElements) + "true]"))),
		"one valid JSON value":                   second(JSON.Append(nil, jsontext.Value(`{"a":1,"a":2}`))),
		"deeper than the 48 allowed":             second(JSON.Append(nil, jsontext.Value(strings.Repeat("[", 49)+strings.Repeat("]", 49)))),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestOptionalsTellUnsetFromZero(t *testing.T) {
	var unset Optional[uint64]
	if v, ok := unset.Get(); v != 0 || ok {
		t.Errorf("unset is %d, %v", v, ok)
	}
	if v, ok := Some[uint64](0).Get(); v != 0 || !ok {
		t.Errorf("zero is %d, %v", v, ok)
	}
	got := fmt.Sprint(unset.Or(7), Some[uint64](0).Or(7), unset, Some("a"))
	if diff := cmp.Diff("7 0 unset a", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
