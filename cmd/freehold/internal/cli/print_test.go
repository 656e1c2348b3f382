package cli

import (
	"slices"
	"strings"
	"testing"
)

// A line breaks at blanks alone, and never within a command.
func TestProseKeepsCommandsWhole(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"", ""},
		{"one two three", "one two\nthree"},
		{"incomprehensible", "incomprehensible"},
		{"run `freehold fold tool --dir 'a b'`, then look", "run\n`freehold fold tool --dir 'a b'`,\nthen look"},
		{"漢字 漢字 漢字", "漢字 漢字\n漢字"},
		{"it names `freehold", "it names\n`freehold"},
	} {
		if got := strings.Join(words(tc.line, 10), "\n"); got != tc.want {
			t.Errorf("%q becomes\n%s\nwant\n%s", tc.line, got, tc.want)
		}
	}
}

// A cell is no wider than its column, loses nothing, and keeps instants whole.
func TestWrapNeverBreaksAnInstant(t *testing.T) {
	const at = "2026-08-11T09:12:44.031Z"
	for _, tc := range []struct {
		line  string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"seen " + at + " twice", 26, []string{"seen", at, "twice"}},
		{`{"at":"` + at + `","n":1}`, 26, []string{`{"at":"`, at + `",`, `"n":1}`}},
		{at, 10, []string{at}},
		{`{"one":1,"two":2}`, 12, []string{`{"one":1,`, `"two":2}`}},
		{"xxxxxxxxxx", 4, []string{"xxxx", "xxxx", "xx"}},
		{"漢字漢", 3, []string{"漢", "字", "漢"}},
		{"漢", 1, []string{"漢"}},
	} {
		if got := Wrap(tc.line, tc.width); !slices.Equal(got, tc.want) {
			t.Errorf("%q at %d cells: %q, want %q", tc.line, tc.width, got, tc.want)
		}
	}
}
