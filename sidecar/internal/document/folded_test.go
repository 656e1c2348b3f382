package document

import (
	"errors"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Case 51: letters that only Unicode folds to those of a field's name, also those
// that have no other case in a table of ASCII, are that name's twins, and refused
// beside it as "Turns" is. Alone they are no field, and never its value.
func TestNamesThatFoldToAFieldsAreNoField(t *testing.T) {
	for name, twin := range map[string]string{"status": "\u017ftatus", "tokens": "to\u212aens", "k": "\u212a", "risk": "RI\u017f\u212a"} {
		d := sample(1)
		d.Set(name, []byte("1"), Provenance{Version: d.Version, At: testTime, Program: "hook", PID: 1})
		text := encode(t, d)
		both := strings.Replace(text, `"`+name+`":1`, `"`+name+`":1,"`+twin+`":9`, 1)
		if both == text {
			t.Fatalf("%s is not in %s", name, text)
		}
		var syntax *SyntaxError
		if _, err := Decode([]byte(both)); !errors.As(err, &syntax) {
			t.Errorf("%q beside %s: %v", twin, name, err)
		}
		alone := strings.Replace(text, `"`+name+`":1`, `"`+twin+`":9`, 1)
		if _, err := DecodeForeign([]byte(alone)); !errors.Is(err, status.Invalid) || !strings.Contains(err.Error(), "cannot be a field") {
			t.Errorf("%q alone: %v", twin, err)
		}
	}
}
