package bench

import (
	"path/filepath"
	"strings"
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

// Every process of a crowd is told that its commits are made: they are all
// there, or the kind says that it loses some.
func TestCrowdsLoseNothingThatTheyDoNotSay(t *testing.T) {
	for name, kinds := range map[string][]kind{"owners": ownersKinds(), "counter": counterKinds()} {
		for _, k := range kinds {
			t.Run(name+"/"+k.name, func(t *testing.T) {
				c, err := k.open(filepath.Join(t.TempDir(), "state"))
				if err != nil {
					t.Fatal(err)
				}
				crowd := c.(*crowd)
				crowd.each = 4
				for range 3 {
					if err := crowd.do(0); err != nil {
						t.Fatal(err)
					}
				}
				if err := crowd.finish(0); err != nil {
					t.Error(err)
				}
				if want := int64(3 * 4 * len(crowd.owners)); crowd.added != want {
					t.Errorf("%d commits, want %d", crowd.added, want)
				}
				if crowd.loses != strings.Contains(k.lacks, "LOSES") {
					t.Errorf("it loses: %v, and the table says that it lacks %q", crowd.loses, k.lacks)
				}
			})
		}
	}
}
