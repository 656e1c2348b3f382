package schema

import (
	"errors"
	"fmt"
	"testing"
)

func TestEachLimitIsHeldAtItsByte(t *testing.T) {
	limits := Limits{Depth: 3, Members: 2, Elements: 3, Values: 20, Text: 5}
	for _, tc := range []struct {
		text string
		want string // "" if it keeps to the limits
	}{
		{``, ""},
		{`{}`, ""},
		{`{"a":1,"b":2}`, ""},
		{`{"a":1,"b":2,"c":3}`, "16: more than 2 members in one object"},
		{`{"a":{"a":1,"b":2},"b":{"a":1,"b":2}}`, ""},
		{`[1,2,3]`, ""},
		{`[1,2,3,4]`, "6: more than 3 elements in one array"},
		{`[[1,2,3],[1,2,3]]`, ""},
		{`[[[]]]`, ""},
		{`[[[[`, "3: nested deeper than 3"},
		{`[{"a":[{`, "7: nested deeper than 3"},
		{`[],[],[],[],[],[],[],[],[],[],[],[]`, "30: more than 20 names and values"},
		{`"12345"`, "0: a name, text or number of more than 5 bytes"}, // the quotes count
		{`"123"`, ""},
		{`123456`, "0: a name, text or number of more than 5 bytes"},
		{`12345`, ""},
		{`[12345,12345]`, ""},
		{`["\"1"]`, ""},
		{`["\"\""]`, "1: a name, text or number of more than 5 bytes"},
		{`["[[["]`, ""},
		{`[":::"]`, ""},
		{`["\\",[]]`, ""},
		{"[1 \n\t\r , 2]", ""},
		{"[1,     2,     3]", ""},
		{"[1,      2]", "3: white space of more than 5 bytes"},
		{"         ", "0: white space of more than 5 bytes"},
		{"\n \r\t\t1    2  ", ""},
		{`"12"    "34"`, ""},
		{"1\t\t\t\t\t\t", "1: white space of more than 5 bytes"},
		// What is no JSON is the decoder's to refuse.
		{`}}}]]]`, ""},
		{`::,,`, ""},
		{`"open`, ""},
		{`"\`, ""},
	} {
		check := func(how string, err error) {
			t.Helper()
			got := ""
			if e, ok := errors.AsType[*LimitError](err); ok {
				got = fmt.Sprintf("%d: %v", e.Offset, e)
			} else if err != nil {
				t.Errorf("%s, %s: %v", tc.text, how, err)
			}
			if got != tc.want {
				t.Errorf("%s, %s: got %q, want %q", tc.text, how, got, tc.want)
			}
		}
		check("whole", limits.Check([]byte(tc.text)))
		check("without limits", func() error {
			if err := (Limits{}).Check([]byte(tc.text)); err != nil {
				return err
			}
			return limits.Check([]byte(tc.text))
		}())
	}
}
