package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxSize is the most bytes that a sidecar may have.
	MaxSize = 1 << 20
	// MaxDepth is how deep its objects and arrays may nest.
	MaxDepth = 64
	// MaxMembers is how many fields a sidecar, and how many members each
	// object of "$sidecar", may have.
	MaxMembers = 4096
	// MaxKeys is how many members any other object in it may have.
	MaxKeys = schema.MaxKeys
)

// checkFile returns a [*SyntaxError] unless text is JSON that a sidecar may
// have.
func checkFile(text []byte) error {
	if len(text) > MaxSize {
		return &SyntaxError{MaxSize, "the file is longer than the 1 MiB that a sidecar may have"}
	}
	return checkJSON(text)
}

// checkJSON returns a [*SyntaxError] unless text is one JSON value, alone but
// for white space, whose objects have at most [MaxKeys] members.
func checkJSON(text []byte) error {
	if err := checkKeys(text); err != nil {
		return err
	}
	if jsontext.Value(text).IsValid() {
		return nil
	}
	if what := otherText(text); what != "" {
		return &SyntaxError{0, what}
	}
	return syntaxError(text)
}

// checkKeys checks the number of members before the decoder sees the text, which
// remembers every name of an object. Most texts need no walk.
func checkKeys(text []byte) error {
	if bytes.Count(text, []byte{':'}) <= MaxKeys {
		return nil
	}
	err := schema.Limits{Members: MaxKeys}.Check(text)
	if e, ok := errors.AsType[*schema.LimitError](err); ok {
		return &SyntaxError{int64(e.Offset), e.Error()}
	}
	return err
}

// otherText says what a text is that a parser's error would describe badly:
// "invalid character 'ï'" helps nobody. Else it returns "".
func otherText(text []byte) string {
	begins := func(with string) bool { return bytes.HasPrefix(text, []byte(with)) }
	switch {
	case len(text) == 0:
		return "the file is empty"
	case begins("\xEF\xBB\xBF"):
		return "the file begins with a UTF-8 BOM (EF BB BF); save it as UTF-8 without BOM"
	case begins("\xFF\xFE"), begins("\xFE\xFF"), begins("{\x00"), begins("\x00{"):
		return "the file is UTF-16; save it as UTF-8 without BOM"
	case len(bytes.TrimRight(text, "\x00")) == 0:
		return "the file holds nothing but NUL bytes, as a file does that lost power before its data was written"
	case len(bytes.TrimSpace(text)) == 0:
		return "the file holds nothing but white space"
	}
	return ""
}

// syntaxError returns the error with the byte at which text is not JSON.
func syntaxError(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	_, err := dec.ReadValue()
	if err == nil {
		at := dec.InputOffset()
		space := len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
		return &SyntaxError{at + int64(space), "more follows after the end of the value"}
	}
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok, errors.Is(err, io.ErrUnexpectedEOF):
		return &SyntaxError{int64(len(text)), "the file ends too early"}
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &SyntaxError{e.ByteOffset, fmt.Sprintf("duplicate name %q", e.JSONPointer.LastToken())}
	}
	return &SyntaxError{e.ByteOffset, strings.TrimPrefix(e.Err.Error(), "jsontext: ")}
}
