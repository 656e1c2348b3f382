package document

import (
	"bytes"
	"testing"
)

func TestEveryTruncationIsNoticed(t *testing.T) {
	text := []byte(encode(t, sample(20)))
	for n := range len(text) {
		if _, err := Decode(text[:n]); !noticed(err) {
			t.Fatalf("the first %d of %d bytes decoded: %v", n, len(text), err)
		}
	}
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	text := []byte(encode(t, sample(20)))
	if len(text) < 1000 {
		t.Fatalf("the sample has only %d bytes", len(text))
	}
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if _, err := Decode(text); !noticed(err) {
				t.Errorf("bit %d of byte %d flipped and it decoded: %v\n%s", bit, i, err, text)
			}
			text[i] ^= 1 << bit
		}
	}
	if _, err := Decode(text); err != nil {
		t.Fatalf("the unharmed text does not decode: %v", err)
	}
}

func TestEveryLostOrRepeatedByteIsNoticed(t *testing.T) {
	text := []byte(encode(t, sample(20)))
	for i := range text {
		lost := append(bytes.Clone(text[:i]), text[i+1:]...)
		repeated := append(bytes.Clone(text[:i+1]), text[i:]...)
		for _, damaged := range [][]byte{lost, repeated} {
			if _, err := Decode(damaged); !noticed(err) {
				t.Errorf("byte %d lost or repeated and it decoded: %v", i, err)
			}
		}
	}
}

func TestDecodeLeavesItsInputAlone(t *testing.T) {
	text := []byte(encode(t, sample(3)))
	before := bytes.Clone(text)
	d, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, before) {
		t.Error("Decode changed its input")
	}
	clear(text)
	if got := encode(t, d); got != string(before) {
		t.Errorf("the document changed with the buffer that it was decoded from:\n%s", got)
	}
}

// A sum elsewhere must not be taken for the sum.
func TestOnlyTheEnvelopesSumCounts(t *testing.T) {
	zeros := string(noSum)
	for _, decoy := range []string{
		`"future":{"sum":"` + zeros + `"},"format":1`,
		`"future":"\"sum\":\"` + zeros + `\"","format":1`,
		`"future":["sum","` + zeros + `"],"format":1`,
		`"su\u006d2":"` + zeros + `","format":1`,
	} {
		text := edited(t, `"format":1`, decoy)
		if _, err := Decode([]byte(text)); err != nil {
			t.Errorf("with the decoy %s: %v", decoy, err)
		}
	}
	text := edited(t, "\n\"turns\":12", "\n\"sum\":\""+zeros+"\",\n\"turns\":12")
	if _, err := Decode([]byte(text)); err != nil {
		t.Errorf("with a field named sum: %v", err)
	}
	// The name with an escape in it is the same name.
	text = edited(t, `"sum":`, `"s\u0075m":`)
	if _, err := Decode([]byte(text)); err != nil {
		t.Errorf("with an escape in the name: %v", err)
	}
}
