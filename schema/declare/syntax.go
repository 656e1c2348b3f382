package declare

import (
	"regexp"
	"strings"
)

// syntax reports an error of the YAML parser. The parser's own line numbers
// are off by up to the length of a block, so the place is found again: it is
// the first line without which the lines before it parse.
func (r *reporter) syntax(text []byte, err error) {
	number := brokenLine(text)
	line := lines(text)[number-1]
	indent := indentation(line)
	if i := strings.IndexByte(indent, '\t'); i >= 0 {
		r.report(place{number, i + 1}, tabAdvice)
		return
	}
	r.report(place{number, 1 + len(indent)}, "not valid YAML, %s", advice(err.Error()))
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
