package cli

import "testing"

// A line breaks at blanks alone, and never within a command.
func TestProseKeepsCommandsWhole(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"", ""},
		{"one two three", "one two\nthree"},
		{"  one two three", "  one two\n  three"},
		{"incomprehensible", "incomprehensible"},
		{"run `freehold fold tool --dir 'a b'`, then look", "run\n`freehold fold tool --dir 'a b'`,\nthen look"},
		{"漢字 漢字 漢字", "漢字 漢字\n漢字"},
		{"it names `freehold", "it names\n`freehold"},
	} {
		if got := wrapped(tc.line, 10); got != tc.want {
			t.Errorf("%q becomes\n%s\nwant\n%s", tc.line, got, tc.want)
		}
	}
}
