package declare

import (
	"bytes"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// MaxSize is the most bytes that an owners.yaml may have. It is room for
// thousands of fields; a file beyond it is not one that a person wrote.
const MaxSize = 256 << 10

// The limits of an owners.yaml before the YAML parser sees it, which builds a
// node of two hundred bytes from two. It is room for the most fields
// that an owner may have, of which each says three things, in either style.
const (
	maxLines = 4*schema.MaxFields + 256
	maxMarks = 8*schema.MaxFields + 512 // characters that YAML gives a meaning
)

// marks are those characters.
const marks = ",:-?[]{}&*!|>#"

// checkAmount reports sizes that no person writes.
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
			r.reportAt(place{line, 1}, "the file has more than %d lines: declare less, or several states", maxLines)
			return
		}
		if found > maxMarks {
			r.reportAt(place{line, 1}, "the file has more than %d of the characters %s: declare less, or several states", maxMarks, marks)
			return
		}
	}
}

// checkText reports characters that make text unreadable as YAML, or readable as
// another text than it seems: line ends that editors and YAML count
// differently would put every position wrong.
func (r *reporter) checkText(text []byte) {
	if len(text) > MaxSize {
		r.reportAt(place{1, 1}, "the file has %d bytes and may have %d: declare less, or several states", len(text), MaxSize)
		return
	}
	if r.checkAmount(text); r.err() != nil {
		return
	}
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		r.reportAt(place{1, 1}, "the file begins with a byte order mark: save it as UTF-8 without one")
		text = text[3:]
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		r.reportAt(place{1, 1}, "the file is UTF-16: save it as UTF-8")
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
			r.reportAt(at, "the byte %#02x is not UTF-8: save the file as UTF-8", line[0])
			return
		case c == '\r':
			r.reportAt(at, "a carriage return stands alone: end lines with a line feed, or with both")
			return
		case c == '\u0085', c == '\u2028', c == '\u2029':
			r.reportAt(at, "the character %U ends a line for YAML but not for an editor: remove it", c)
			return
		case !printable(c):
			r.reportAt(at, "the character %U may not stand in YAML: remove it", c)
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

// syntax reports an error of the YAML parser. The parser's own line numbers
// are off by up to the length of a block, so the place is found again: it is
// the first line without which the lines before it parse.
func (r *reporter) syntax(text []byte, err error) {
	number := brokenLine(text)
	line := lines(text)[number-1]
	indent := indentation(line)
	if i := strings.IndexByte(indent, '\t'); i >= 0 {
		r.reportAt(place{number, i + 1}, tabAdvice)
		return
	}
	r.reportAt(place{number, 1 + len(indent)}, "not valid YAML, %s", advice(err.Error()))
}

// brokenLine returns the number of the line after the longest run of whole
// lines, from the beginning of text, that parses. A collection or a quote
// that is left open counts as broken where it opens.
//
// The run is looked for by halving, then by trying longer ones, since lines
// inside of braces do not parse and the lines after them may. The budget
// bounds the work on a hostile file, whose problem may then name an earlier
// line.
func brokenLine(text []byte) int {
	var ends []int // ends[i] is where line i+1 ends
	for i, c := range text {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	budget := 2 * MaxSize
	parses := func(count int) bool {
		budget -= ends[count-1]
		_, err := decode(text[:ends[count-1]])
		return err == nil
	}
	good, bad := 0, len(ends)+1 // good lines parse, bad ones do not
	for bad-good > 1 {
		if half := (good + bad) / 2; parses(half) {
			good = half
		} else {
			bad = half
		}
	}
	for try := good + 2; try <= len(ends) && budget > 0; try++ {
		if parses(try) {
			good = try
		}
	}
	return good + 1
}

var yamlPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// advice turns the parser's words into what is wrong and what to do.
func advice(message string) string {
	message = yamlPrefix.ReplaceAllString(message, "")
	for _, known := range []struct{ words, advice string }{
		{"mapping values are not allowed", `a colon stands where no key can be: put text that has ": " in it in quotes, or correct the indentation`},
		{"did not find expected key", "this line is indented like no entry above it: indent it like its neighbours"},
		{"did not find expected ',' or", "a { or [ that opens here lacks a comma or its closing bracket: add it"},
		{"did not find expected '-' indicator", "this line is indented like no entry above it: indent it like its neighbours"},
		{"found unexpected end of stream", "a quote that opens here is never closed: close it"},
		{"could not find expected ':'", "this line is no entry: write KEY: VALUE"},
		{"found unknown escape character", `a backslash begins an escape that YAML does not know: write \\, or use single quotes`},
		{"found character that cannot start any token", "a value may not begin with this character: put the value in quotes"},
		{"violates indentation", tabAdvice},
		{"unknown anchor", "an alias (*) stands for text elsewhere: write the text here, or put it in quotes"},
		{"incompatible YAML document", "owners.yaml has no directives: remove this one"},
		{"unknown directive", "owners.yaml has no directives: remove this one"},
		{"exceeded max depth", "it nests too deep: flatten it"},
	} {
		if strings.Contains(message, known.words) {
			return known.advice
		}
	}
	return message + ": correct it here"
}

const (
	maxDoc  = 2000 // characters of a doc text
	maxLine = 100  // characters of a unit, a legacy key or a Go name
)

// prose returns the text of a doc: one or more lines. A character that does
// not show is refused, since it could make the text look like another one.
func (f *fileReader) prose(at jsontext.Pointer, n *yaml.Node) string {
	whole := f.text(at, n)
	text := strings.TrimSpace(whole)
	switch i := strings.IndexFunc(text, hidden); {
	case whole == "":
	case text == "":
		f.report(at, "%s is blank: write a sentence or remove it", schema.PartName(at))
	case len([]rune(text)) > maxDoc:
		f.report(at, "%s is longer than %d characters: write less", schema.PartName(at), maxDoc)
	case i >= 0:
		f.report(at, "%s holds the character %U, which does not show: remove it", schema.PartName(at), []rune(text[i:])[0])
	default:
		return text
	}
	return ""
}

// hidden reports whether c is a character that neither shows nor separates.
// The two joiners stay, because scripts and emoji need them.
func hidden(c rune) bool {
	return c != '\n' && c != '\t' && c != '\u200c' && c != '\u200d' && !unicode.IsGraphic(c)
}

// line returns the text of a short remark: one line.
func (f *fileReader) line(at jsontext.Pointer, n *yaml.Node) string {
	text := f.text(at, n)
	switch {
	case strings.TrimSpace(text) != text:
		f.report(at, "%s, %.40q, begins or ends with a space: remove it", schema.PartName(at), text)
	case strings.IndexFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) }) >= 0:
		f.report(at, "%s, %.40q, holds a character that does not show: remove it", schema.PartName(at), text)
	case len([]rune(text)) > maxLine:
		f.report(at, "%s is longer than %d characters: write less", schema.PartName(at), maxLine)
	default:
		return text
	}
	return ""
}

// goName returns the text of a "go:", which names a method, a type and a
// function of another package.
func (f *fileReader) goName(at jsontext.Pointer, n *yaml.Node) string {
	name := f.text(at, n)
	ascii := strings.IndexFunc(name, func(c rune) bool { return c > unicode.MaxASCII }) < 0
	if name == "" || ascii && len(name) <= maxLine && token.IsIdentifier(name) && token.IsExported(name) {
		return name
	}
	f.report(at, "%s, %.40q, is no exported identifier: write a capital letter, then letters and digits", schema.PartName(at), name)
	return ""
}

// formerName returns the text of a "was".
func (f *fileReader) formerName(at jsontext.Pointer, n *yaml.Node) string {
	switch name := f.text(at, n); {
	case name == "":
	case !schema.ValidName(name):
		f.report(at, "%s, %.40q, does not fit %s, so that nothing was ever called that: correct or remove it", schema.PartName(at), name, schema.NameRule)
	case name == at.Parent().LastToken():
		f.report(at, "%s was called %s before, as it is now: remove \"was\"", schema.PartName(at.Parent()), name)
	default:
		return name
	}
	return ""
}

// valueRule is the rule for the values of an enum. A value becomes part of a Go
// name, a word on the command line and a line of a schema, and needs quotes in
// none of them.
const valueRule = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`

var validValue = regexp.MustCompile(valueRule).MatchString

// checkValue reports a value that breaks the rule or equals one in seen, which
// holds the places of the values before by their lower case.
func (f *fileReader) checkValue(at jsontext.Pointer, value string, before []string, seen map[string]jsontext.Pointer) bool {
	part := schema.PartName(at.Parent().Parent())
	lower := strings.ToLower(value)
	first, taken := seen[lower]
	switch better := strings.ReplaceAll(value, " ", "-"); {
	case !validValue(value):
		advice := "choose another spelling"
		if validValue(better) {
			advice = "write " + better
		}
		f.report(at, `the value %.40q of %s may have only letters a-z and A-Z, digits, "-", "_" and ".", at most 64 of them, a letter or digit first: %s`, value, part, advice)
		return false
	case slices.Contains(before, value):
		f.report(at, "%s has the value %s twice, first at %s: remove one", part, value, first)
		return false
	case taken:
		i := slices.IndexFunc(before, func(b string) bool { return strings.ToLower(b) == lower })
		f.report(at, "the value %s of %s differs only in case from %s at %s: keep one of them", value, part, before[i], first)
		return false
	}
	seen[lower] = at
	return true
}
