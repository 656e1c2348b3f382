package schema

import "testing"

// TestSuggestionsAreClose, and far ones are not made.
func TestSuggestionsAreClose(t *testing.T) {
	words := []string{"doc", "mode", "busy", "durability", "home", "fields"}
	for word, want := range map[string]string{
		"docs": "doc", "Mode": "mode", "filds": "fields", "feilds": "fields", "durabilty": "durability", " home ": "home",
		"dur": "durability", "x": "", "": "", "author": "", "do": "doc", "hmoe": "home", "dx": "",
	} {
		if got, _ := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
