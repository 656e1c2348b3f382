package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxSize is the most bytes that a legacy file may have.
const MaxSize = 16 << 20

// limits are what else a legacy file may have. Nobody's state comes near; a
// file beyond is refused before anything is built from it, and before the rest
// of it is read.
var limits = schema.Limits{Depth: 512, Values: 1 << 18, Text: 1 << 20}

// A Legacy is what a legacy file says. It is immutable.
type Legacy struct {
	path   string
	text   []byte
	object schema.Object
}

// Path returns the file's path as it was given.
func (l *Legacy) Path() string { return l.path }

// Name returns the last element of the file's path, by which reports and
// provenance call it.
func (l *Legacy) Name() string { return filepath.Base(l.path) }

// Parse returns the legacy file of this path and text. The text must be one
// JSON object, read as strictly as a sidecar; else the error wraps
// [sidecar.ErrInvalid] and says at which byte. Keys that differ only in case
// are different keys.
func Parse(path string, text []byte) (*Legacy, error) {
	at, err := check(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: byte %d: %w: nothing was changed; mend the file, then adopt it", path, sidecar.ErrInvalid, at, err)
	}
	object, err := schema.ParseObject(text)
	if err != nil { // check would have said so
		return nil, fmt.Errorf("%s: %w: %w", path, sidecar.ErrInvalid, err)
	}
	if _, ok := object.Value("$sidecar"); ok {
		return nil, fmt.Errorf("%s: %w: it is a sidecar, which Freehold wrote: name the file that there was before", path, sidecar.ErrInvalid)
	}
	return &Legacy{path, text, object}, nil
}

// check says why text cannot be adopted and at which byte. It builds nothing
// until it knows how much there is.
func check(text []byte) (at int64, err error) {
	if at, err := encoded(text); err != nil {
		return at, err
	}
	if at, err := bounded(text); err != nil {
		return at, err
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(text)) // which refuses a name that is there twice
	if _, err := dec.ReadValue(); err != nil {
		return syntax(text, err)
	}
	end := dec.InputOffset()
	if rest := bytes.TrimLeft(text[end:], " \t\r\n"); len(rest) > 0 {
		return int64(len(text) - len(rest)), errors.New("more follows after the end of the object")
	}
	return 0, nil
}

// encoded refuses what is no text in UTF-8 by the name that helps, since the
// first byte of a byte order mark does not show.
func encoded(text []byte) (at int64, err error) {
	switch {
	case len(text) <= limits.Text && len(bytes.TrimLeft(text, " \t\r\n")) == 0:
		return 0, errors.New("the file is empty")
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return 0, errors.New("a UTF-8 byte order mark (BOM) stands before the text: save it as UTF-8 without one")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return 0, errors.New("the file is UTF-16: save it as UTF-8")
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		if at < 2 && len(text) > 3 && text[at^1] != 0 {
			return int64(at), errors.New("every other byte is NUL, as in UTF-16: save it as UTF-8")
		}
		return int64(at), errors.New("a NUL byte, as a crash leaves them: restore the file from a copy")
	}
	return 0, nil
}

// bounded holds the text to the limits, and to being an object.
func bounded(text []byte) (at int64, err error) {
	rest := bytes.TrimLeft(text, " \t\r\n")
	if kind := jsontext.Value(rest).Kind(); kind != jsontext.KindBeginObject && kind != jsontext.KindInvalid {
		return int64(len(text) - len(rest)), fmt.Errorf("want an object, not %s", kindOf(kind))
	}
	if e, ok := errors.AsType[*schema.LimitError](limits.Check(text)); ok {
		return int64(e.Offset), e
	}
	return 0, nil
}

// syntax turns the decoder's error into the byte and what is wrong there.
func syntax(text []byte, err error) (int64, error) {
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok || errors.Is(err, io.ErrUnexpectedEOF):
		return int64(len(text)), errors.New("the file ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return e.ByteOffset, fmt.Errorf("the name %q stands there twice, at %q", e.JSONPointer.LastToken(), e.JSONPointer)
	}
	return e.ByteOffset, errors.New(strings.TrimPrefix(e.Err.Error(), "jsontext: "))
}

// kindOf names a kind of JSON in words.
func kindOf(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindBeginObject:
		return "an object"
	}
	return "nothing"
}
