package declare

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

// MaxSize is the most bytes that an owners.yaml may have. It is room for
// thousands of fields; a file beyond it is not one that a person wrote.
const MaxSize = 256 << 10

// What else an owners.yaml may have before the YAML parser sees it, which
// builds a node of two hundred bytes from two. It is room for the most fields
// that an owner may have, of which each says three things, in either style.
const (
	maxLines = 4*schema.MaxFields + 256
	maxMarks = 8*schema.MaxFields + 512 // characters that YAML gives a meaning
)

// marks are those characters.
const marks = ",:-?[]{}&*!|>#"

// checkAmount reports what no person wrote.
func (r *reporter) checkAmount(text []byte) {
	line, found := 1, 0
	for _, c := range text {
		switch {
		case c == '\n':
			line++
		case strings.IndexByte(marks, c) >= 0:
			found++
		}
		if line > maxLines {
			r.report(place{line, 1}, "the file has more than %d lines: declare less, or several states", maxLines)
			return
		}
		if found > maxMarks {
			r.report(place{line, 1}, "the file has more than %d of the characters %s: declare less, or several states", maxMarks, marks)
			return
		}
	}
}

// checkText reports what makes text unreadable as YAML, or readable as
// something else than it looks like: line ends that editors and YAML count
// differently would put every position wrong.
func (r *reporter) checkText(text []byte) {
	if len(text) > MaxSize {
		r.report(place{1, 1}, "the file has %d bytes and may have %d: declare less, or several states", len(text), MaxSize)
		return
	}
	if r.checkAmount(text); r.err() != nil {
		return
	}
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		r.report(place{1, 1}, "the file begins with a byte order mark: save it as UTF-8 without one")
		text = text[3:]
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		r.report(place{1, 1}, "the file is UTF-16: save it as UTF-8")
		return
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		r.checkLine(i+1, bytes.TrimSuffix(line, []byte("\r")))
	}
}

// checkLine reports the first bad character of a line.
func (r *reporter) checkLine(number int, line []byte) {
	for col := 1; len(line) > 0; col++ {
		c, size := utf8.DecodeRune(line)
		at := place{number, col}
		switch {
		case c == utf8.RuneError && size == 1:
			r.report(at, "the byte %#02x is not UTF-8: save the file as UTF-8", line[0])
			return
		case c == '\r':
			r.report(at, "a carriage return stands alone: end lines with a line feed, or with both")
			return
		case c == '\u0085', c == '\u2028', c == '\u2029':
			r.report(at, "the character %U ends a line for YAML but not for an editor: remove it", c)
			return
		case !printable(c):
			r.report(at, "the character %U may not stand in YAML: remove it", c)
			return
		}
		line = line[size:]
	}
}

// printable reports whether YAML lets c stand in a file, line ends apart.
func printable(c rune) bool {
	switch {
	case c == '\t':
		return true
	case c < ' ', c >= 0x7f && c < 0xa0, c == '\ufeff', c == '\ufffe', c == '\uffff':
		return false
	}
	return true
}

// lines returns the lines of text without their ends.
func lines(text []byte) []string {
	all := strings.Split(string(text), "\n")
	for i, line := range all {
		all[i] = strings.TrimSuffix(line, "\r")
	}
	return all
}

// indentation returns the white space that line begins with.
func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
