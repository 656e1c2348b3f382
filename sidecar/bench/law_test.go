package bench

import (
	"testing"
	"time"
)

func TestRatioComparesWithinARound(t *testing.T) {
	// Everything takes ten times as long in the second round.
	base := []time.Duration{100, 1000, 100}
	peer := []time.Duration{200, 2000, 200}
	if x := median(ratios(peer, base)); x != 2 {
		t.Errorf("ratio %v, want 2", x)
	}
}

func TestMedianOfEvenCountLiesBetween(t *testing.T) {
	if m := median([]time.Duration{40, 10, 20, 30}); m != 25 {
		t.Errorf("median %v, want 25ns", m)
	}
}

func TestPlainStateHasTheBytesThatTheDocumentationSays(t *testing.T) {
	text, err := plain(firstValue)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) != 469 {
		t.Errorf("%d bytes, want 469", len(text))
	}
}
