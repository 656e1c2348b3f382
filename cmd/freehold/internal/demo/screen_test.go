package demo

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLongLinesWrapAtBlanksAndKeepTheirWords(t *testing.T) {
	words := strings.Repeat("word ", 50)
	path := "/" + strings.Repeat("x", 150)
	for _, text := range []string{"short  and   spaced", "  " + words, words + path + " " + words, path} {
		lines := wrap(text, 40)
		for _, l := range lines {
			if len(l) > 40 && strings.TrimSpace(l) != path {
				t.Errorf("%d columns: %q", len(l), l)
			}
		}
		if diff := cmp.Diff(strings.Fields(text), strings.Fields(strings.Join(lines, " "))); diff != "" {
			t.Errorf("words (-want +got):\n%s", diff)
		}
	}
}

func TestTableAlignsNumbersToTheRight(t *testing.T) {
	var got strings.Builder
	s := newScreen(Options{Print: func(text string) error { got.WriteString(text); return nil }})
	s.table([][]string{{"NAME", "COUNT", "WHO"}, {"a", "1", "7"}, {"longer", "1000000", "you"}})
	want := "" +
		"  NAME      COUNT  WHO\n" +
		"  a             1  7\n" +
		"  longer  1000000  you\n"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// On a narrow terminal no line is broken by it: rows that do not fit are told cell
// by cell.
func TestANarrowScreenIsNotBroken(t *testing.T) {
	var got strings.Builder
	s := newScreen(Options{Width: 24, Print: func(text string) error { got.WriteString(text); return nil }})
	s.tell(line{plain, "Old way, read, add 1 and rename"})
	s.table([][]string{{"NAME", "LOST THE OLD WAY", "LOST NOW"}, {"all", "7", "0"}, {"tick", "12", "1"}})
	s.table([][]string{{"NAME", "N"}, {"a", "1"}})
	want := "" +
		"Old way, read, add 1 and\n" +
		"  rename\n" +
		"  all\n" +
		"    LOST THE OLD WAY 7\n" +
		"    LOST NOW 0\n" +
		"  tick\n" +
		"    LOST THE OLD WAY 12\n" +
		"    LOST NOW 1\n" +
		"  NAME  N\n" +
		"  a     1\n"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestColourIsOnlyForThoseWhoWantIt(t *testing.T) {
	for _, colour := range []bool{false, true} {
		var got strings.Builder
		s := newScreen(Options{Colour: colour, Print: func(text string) error { got.WriteString(text); return nil }})
		s.tell(line{heading, "head"}, line{bad, "bad"}, line{good, "good"}, line{quiet, "quiet"})
		if strings.Contains(got.String(), "\x1b") != colour {
			t.Errorf("colour %v: %q", colour, &got)
		}
	}
}

// Text from files and from the toolchain goes through Visible.
func TestTheScreenShowsOnlyVisibleText(t *testing.T) {
	var got strings.Builder
	s := newScreen(Options{
		Visible: func(text string) string { return strings.ReplaceAll(text, "\x1b", "?") },
		Print:   func(text string) error { got.WriteString(text); return nil },
	})
	s.tell(line{bad, "a\x1b[2J"})
	s.table([][]string{{"HEAD"}, {"b\x1b[2J"}})
	if strings.Contains(got.String(), "\x1b") || strings.Count(got.String(), "?[2J") != 2 {
		t.Errorf("printed %q", &got)
	}
}

func TestTheFirstErrorOfTheScreenStays(t *testing.T) {
	full := errors.New("full")
	calls := 0
	s := newScreen(Options{Print: func(string) error { calls++; return full }})
	s.tell(line{plain, "a"}, line{plain, "b"})
	if s.err != full || calls != 1 {
		t.Errorf("error %v after %d calls", s.err, calls)
	}
}
