package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
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

// A SyntaxError names the byte at which a file is not a sidecar or a claim. It
// wraps [status.Invalid].
type SyntaxError struct {
	// Offset counts bytes from the beginning of the file, from zero.
	Offset int64
	// Problem describes the fault.
	Problem string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Problem) }

// Unwrap returns [status.Invalid].
func (e *SyntaxError) Unwrap() error { return status.Invalid }

// A formatError is the format number of a later release, in the file's own
// digits.
type formatError string

func (e formatError) Error() string {
	return fmt.Sprintf("the file has format %s and this release reads format %d", string(e), Format)
}

// Unwrap returns [status.Newer].
func (e formatError) Unwrap() error { return status.Newer }

// Decode reads a sidecar. It returns an error that wraps [status.Invalid] if
// data is not a sidecar, [status.Newer] if its format is a later one, and
// [status.Foreign] if another hand than Freehold's did. [Document.Belongs]
// checks the owner. Decode keeps no reference to data.
func Decode(data []byte) (*Document, error) {
	text := bytes.Clone(data)
	d, sum, err := decode(text)
	if err != nil {
		return nil, err
	}
	if !sealed(text, sum) {
		return nil, status.Foreign
	}
	return d, nil
}

// decode reads text, which becomes the Document's, and returns the offset of
// the sum's digits.
func decode(text []byte) (*Document, int, error) {
	if err := checkFile(text); err != nil {
		return nil, 0, err
	}
	s := &scanner{text: text}
	d, sum := s.document()
	if err := s.failure(); err != nil {
		return nil, 0, err
	}
	return d, sum, nil
}

// DecodeForeign reads a file that another hand wrote or edited, so that its
// values can be accepted. It requires JSON as strict as [Decode] does and an
// object with names that could be fields, else it returns an error that wraps
// [status.Invalid], or [status.Newer]. The caller checks the values against
// the declaration.
//
// If "$sidecar" still has its form, the result has all of it: the provenances,
// and members of a newer release. The sum is not checked, so nothing vouches
// for them. Otherwise the result has the values alone, and of Owner, State and
// Version the readable ones: a new version must be above that one, or readers
// would see the owner go back.
func DecodeForeign(data []byte) (*Document, error) {
	text := bytes.Clone(data)
	if err := checkFile(text); err != nil {
		return nil, err
	}
	s := &scanner{text: text}
	d, _ := s.document()
	switch {
	case s.names != nil:
		return nil, s.names
	case d == nil || status.Of(s.format) == status.Newer:
		return nil, s.failure()
	}
	for _, m := range d.members {
		name := string(unquoteName(m.key))
		if !schema.ValidName(name) && !strings.HasPrefix(name, "$") {
			return nil, &SyntaxError{int64(m.at), fmt.Sprintf("%.80q cannot be a field: want %s", name, schema.NameRule)}
		}
	}
	if s.failure() == nil {
		return d, nil
	}
	return &Document{Owner: d.Owner, State: d.State, Version: d.Version, members: d.members}, nil
}

// document reads a file. It returns the offset of the sum's digits, and no
// document if the file is not an object.
func (s *scanner) document() (d *Document, sum int) {
	s.skipSpace()
	start, sealed := s.pos, false
	if !s.isObject("the file") {
		return nil, 0
	}
	d = new(Document)
	s.members(func(key []byte) {
		if string(unquoteName(key)) == envelopeName {
			sealed = true
			sum = s.envelope(d)
			return
		}
		if d.members == nil {
			d.members = make([]member, 0, len(d.fields)+1)
		}
		value := s.value()
		d.members = append(d.members, member{key, value, s.at})
	})
	if !sealed {
		s.format = &SyntaxError{int64(start), `the object has no "$sidecar", so Freehold did not write it`}
	}
	return d, sum
}

// checkFile returns a [*SyntaxError] unless text is JSON that a sidecar may
// have.
func checkFile(text []byte) error {
	if len(text) > MaxSize {
		return &SyntaxError{MaxSize, "the file is longer than the 1 MiB that a sidecar may have"}
	}
	return checkJSON(text, MaxDepth)
}

// checkJSON returns a [*SyntaxError] unless text is one JSON value, alone but
// for white space, that nests at most depth deep.
func checkJSON(text []byte, depth int) error {
	if err := checkLimits(text, depth); err != nil {
		return err
	}
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	p.source = *bytes.NewBuffer(text)
	p.Reset(&p.source)
	_, err := p.ReadValue()
	if err != nil {
		return syntaxError(text, err)
	}
	rest := bytes.TrimLeft(text[p.InputOffset():], " \t\r\n")
	if len(rest) > 0 {
		return &SyntaxError{int64(len(text) - len(rest)), "more follows after the end of the value"}
	}
	return nil
}

// A parser may keep the last text alive until the next one.
type parser struct {
	jsontext.Decoder
	source bytes.Buffer
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// checkLimits checks the depth and the number of members before the decoder
// sees the text, which remembers every name of an object. Counting shows that
// most texts need no walk.
func checkLimits(text []byte, depth int) error {
	opened := bytes.Count(text, []byte{'{'}) + bytes.Count(text, []byte{'['})
	if opened <= depth && bytes.Count(text, []byte{':'}) <= MaxKeys {
		return nil
	}
	err := schema.Limits{Depth: depth, Members: MaxKeys}.Check(text)
	if e, ok := errors.AsType[*schema.LimitError](err); ok {
		return &SyntaxError{int64(e.Offset), e.Error()}
	}
	return err
}

// otherText describes a text for which a parser's error would be misleading:
// "invalid character 'ï'" helps nobody. It returns "" for other texts.
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

// syntaxError names the byte at which text is not JSON. err is the decoder's.
func syntaxError(text []byte, err error) error {
	if problem := otherText(text); problem != "" {
		return &SyntaxError{0, problem}
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
