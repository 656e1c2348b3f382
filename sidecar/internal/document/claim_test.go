package document

import (
	"errors"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/google/go-cmp/cmp"
)

func sampleClaim() *Claim {
	return &Claim{Owner: "hook", Field: "fired", State: "5s0h2q8v1c3d4e5f6g7h8i9j0k", Nonce: "8c3tabcdefghi", At: testTime, Writer: testWriter}
}

func encodeClaim(t *testing.T, c *Claim) string {
	t.Helper()
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestClaimIsReadAsItWasWritten(t *testing.T) {
	text := encodeClaim(t, sampleClaim())
	got, err := DecodeClaim([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(sampleClaim(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(text, `{"format":1,"owner":"hook","field":"fired","state":`) || strings.Count(text, "\n") != 1 {
		t.Errorf("the text is\n%s", text)
	}
	if err := got.Belongs("hook", "fired", got.State); err != nil {
		t.Error(err)
	}
	for _, other := range [][3]string{{"hook", "ended", got.State}, {"boss", "fired", got.State}, {"hook", "fired", "another"}} {
		if err := got.Belongs(other[0], other[1], other[2]); !errors.Is(err, status.Foreign) {
			t.Errorf("it belongs to %v: %v", other, err)
		}
	}
}

// FG1: every truncation, every flipped bit.
func TestEveryDamageToAClaimIsNoticed(t *testing.T) {
	text := []byte(encodeClaim(t, sampleClaim()))
	damaged := func(what string, i int, text []byte) {
		t.Helper()
		if _, err := DecodeClaim(text); !noticed(err) {
			t.Errorf("%s %d: it decoded: %v\n%s", what, i, err, text)
		}
	}
	for i := range text {
		damaged("the first bytes", i, text[:i])
		for bit := range 8 {
			text[i] ^= 1 << bit
			damaged("a bit flipped in byte", i, text)
			text[i] ^= 1 << bit
		}
	}
	if _, err := DecodeClaim(text); err != nil {
		t.Fatalf("the unharmed text does not decode: %v", err)
	}
}

func TestOddClaimsAreRefused(t *testing.T) {
	text := encodeClaim(t, sampleClaim())
	for old, new := range map[string]string{
		`"format":1`:       `"format":"1"`,
		`"format":1,`:      `"format":1,"Format":1,`,
		`"owner":"hook"`:   `"owner":"hook","owner":"hook"`,
		`"nonce":"8c3t`:    `"nonce":"8C3T`,
		`"field":"fired",`: ``,
		`"at":"`:           `"at":"x`,
		`}` + "\n":         `}x`,
		`"sum":"`:          `"sum":"x`,
		`"pid":`:           `"pid":-`,
	} {
		odd := strings.Replace(text, old, new, 1)
		if odd == text {
			t.Fatalf("the text has no %s:\n%s", old, text)
		}
		if _, err := DecodeClaim([]byte(odd)); !errors.Is(err, status.Invalid) {
			t.Errorf("%s for %s: %v", new, old, err)
		}
	}
	if _, err := DecodeClaim([]byte(strings.Replace(text, `"format":1`, `"format":2,"more":{}`, 1))); !errors.Is(err, status.Newer) || errors.Is(err, status.Invalid) {
		t.Errorf("a newer format: %v", err)
	}
	for what, spoil := range map[string]func(c *Claim){
		"owner":   func(c *Claim) { c.Owner = "../x" },
		"field":   func(c *Claim) { c.Field = "" },
		"state":   func(c *Claim) { c.State = "" },
		"nonce":   func(c *Claim) { c.Nonce = "x" },
		"time":    func(c *Claim) { c.At = c.At.AddDate(9000, 0, 0) },
		"program": func(c *Claim) { c.Writer.Program = "\xff" },
		"size":    func(c *Claim) { c.Writer.Program = strings.Repeat("x", MaxClaim) },
	} {
		c := sampleClaim()
		spoil(c)
		if text, err := c.Encode(); err == nil {
			t.Errorf("a claim with a bad %s was written:\n%s", what, text)
		}
	}
}

// Whatever the bytes are, decoding ends, and a claim that decodes is written
// again as one that says the same.
func FuzzDecodeClaim(f *testing.F) {
	text, err := sampleClaim().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		if i := strings.LastIndex(string(data), `"sum":"`); i >= 0 && len(data) >= i+7+sumDigits { // it keeps a fuzzer out
			data = append([]byte(nil), data...)
			seal(data, i+7)
		}
		c, err := DecodeClaim(data)
		if err != nil {
			return
		}
		again, err := c.Encode()
		if err != nil {
			return // what a newer release may write
		}
		if got, err := DecodeClaim(again); err != nil || !cmp.Equal(got, c) {
			t.Fatalf("%v\n%s", err, cmp.Diff(c, got))
		}
	})
}
