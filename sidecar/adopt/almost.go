package adopt

import (
	"bytes"
	"errors"
	"regexp"
	"unicode/utf8"
)

// place returns the line and the column of a byte. Both count from 1; a column is a
// character.
func place(text []byte, at int64) (line, col int) {
	before := text[:min(int(at), len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// A likeness is a thing of a format that is almost JSON, by the text where JSON ends.
type likeness struct {
	form *regexp.Regexp
	name string
}

var likenesses = []likeness{
	{regexp.MustCompile(`^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)( |\r?\n|$)`), "a merge conflict marker: settle the conflict"},
	{regexp.MustCompile(`^(//|/\*|#)`), "a comment, which JSON has not: remove it"},
	{regexp.MustCompile(`^-?NaN\b`), "NaN, which is no number in JSON: write null or a number"},
	{regexp.MustCompile(`^[-+]?Infinity\b`), "Infinity, which is no number in JSON: write null or a number"},
	{regexp.MustCompile(`^(True|False)\b`), "a truth value as Python writes it: write true or false"},
	{regexp.MustCompile(`^(None|undefined)\b`), "a missing value as other languages write it: write null"},
	{regexp.MustCompile(`^'`), "a text in single quotes: put it in double quotes"},
}

var bareKey = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*\s*:`)

// almost returns the fault at a byte of text by the name of the thing, or nil if it is
// none that people or programs often write.
func almost(text []byte, at int64) error {
	if at < 0 || int(at) >= len(text) {
		return nil
	}
	rest, before := text[at:], bytes.TrimRight(text[:at], " \t\r\n")
	if bytes.HasPrefix(rest, []byte("Infinity")) && bytes.HasSuffix(before, []byte("-")) {
		return errors.New("-Infinity, which is no number in JSON: write null or a number")
	}
	for _, l := range likenesses {
		if l.form.Match(rest) {
			return errors.New(l.name)
		}
	}
	last := byte(0)
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	switch {
	case (rest[0] == '}' || rest[0] == ']') && last == ',':
		return errors.New("a comma before the end, which JSON has not: remove it")
	case rest[0] == ',' && (last == ',' || last == '{' || last == '['):
		return errors.New("a comma without a value before it: remove it")
	case (last == '{' || last == ',') && bareKey.Match(rest):
		return errors.New("a key without quotes: put it in double quotes")
	}
	return nil
}
