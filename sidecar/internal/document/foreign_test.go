package document

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

// An edit of a value leaves everything else to be taken over.
func TestDecodeForeignKeepsASoundEnvelope(t *testing.T) {
	text := encode(t, sample(3))
	d, err := DecodeForeign([]byte(strings.Replace(text, `"turns":12`, `"turns":13,"mine":"x"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	want := contentOf(sample(3))
	want.Names = []string{"turns", "mine", "note"}
	want.Values["turns"], want.Values["mine"] = "13", `"x"`
	want.By["mine"] = Provenance{}
	if diff := cmp.Diff(want, contentOf(d)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	v := testVersion(9)
	d.Commit(v, testTime, testWriter)
	d.Set("turns", []byte("13"), by(v))
	if _, err := Decode([]byte(encode(t, d))); err != nil {
		t.Errorf("written anew: %v", err)
	}
}

func TestDecodeForeignTakesTheValuesOfWhatHasNoEnvelope(t *testing.T) {
	text := encode(t, sample(3))
	for name, c := range map[string]struct {
		text    string
		version Version
	}{
		"no envelope":        {`{"turns":13,"future":{"x": [1]}}`, Version{}},
		"envelope no object": {`{"$sidecar":"gone","turns":13,"future":{"x": [1]}}`, Version{}},
		"sum gone":           {strings.Replace(strings.Replace(text, `"sum":`, `"some":`, 1), `"note"`, `"note":"x","x_note"`, 1), testVersion(3)},
		"entries gone":       {strings.Replace(text, `"fields":`, `"feelds":`, 1), testVersion(3)},
	} {
		d, err := DecodeForeign([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Version != c.version {
			t.Errorf("%s: version %v, want %v", name, d.Version, c.version)
		}
		if raw, by, ok := d.Field("turns"); raw == nil || by != (Provenance{}) || !ok {
			t.Errorf("%s: turns is %s by %+v, %v", name, raw, by, ok)
		}
		d.Owner, d.State = "cost", "x"
		v := testVersion(9)
		d.Commit(v, testTime, testWriter)
		again := encode(t, d)
		if _, err := Decode([]byte(again)); err != nil {
			t.Errorf("%s: written anew: %v\n%s", name, err, again)
		}
	}
}

func TestDecodeForeignRefusesWhatCannotBeFolded(t *testing.T) {
	var got strings.Builder
	for _, text := range []string{
		``, `{"turns":`, `[1]`, `{"turns":1,"turns":2}`, `{"turns":1,"Turns":2}`, `{"TURNS":1}`, `{"turns":1} x`, `{"":1}`,
		"{\"turns\":\"\xff\"}", `{"$sidecar":{"format":2},"turns":1}`,
	} {
		d, err := DecodeForeign([]byte(text))
		if !errors.Is(err, status.Invalid) && !errors.Is(err, status.Newer) {
			t.Errorf("%s: got %v, %v, want status.Invalid or status.Newer", text, d, err)
			continue
		}
		fmt.Fprintf(&got, "%q: %v\n", text, err)
	}
	golden(t, "foreign_errors.txt", got.String())
}
