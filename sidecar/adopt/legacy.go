package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxSize is the largest size of a legacy file, in bytes.
const MaxSize = 16 << 20

// limits bound a legacy file before anything is built from it. No real state
// comes near.
var limits = schema.Limits{Depth: 512, Values: 1 << 18, Text: 1 << 20}

// A Legacy is a parsed legacy file. It is immutable.
type Legacy struct {
	path   string
	text   []byte
	object schema.Object
}

// Path returns the file's path as given.
func (l *Legacy) Path() string { return l.path }

// Name returns the last element of the path, for reports and provenance.
func (l *Legacy) Name() string { return filepath.Base(l.path) }

// Parse parses the text of the legacy file at path. The text must be one JSON
// object, read as strictly as a sidecar; otherwise the error wraps
// [store.Invalid] and names the byte. Keys that differ only in case are
// different keys.
func Parse(path string, text []byte) (*Legacy, error) {
	at, err := check(text)
	if err != nil {
		return nil, store.WithRemedy(fmt.Errorf("%s: %w: byte %d: %w", path, store.Invalid, at, err), store.Remedy{Note: "correct the file, then adopt it"})
	}
	object, err := schema.ParseObject(text)
	if err != nil { // unreachable after check
		return nil, fmt.Errorf("%s: %w: %w", path, store.Invalid, err)
	}
	if _, ok := object.Value("$sidecar"); ok {
		return nil, store.WithRemedy(fmt.Errorf("%s: %w: the file is a sidecar", path, store.Invalid), store.Remedy{Note: "name the legacy file instead"})
	}
	return &Legacy{path, text, object}, nil
}

// check returns the first fault of text and its byte. The cheap checks come
// first.
func check(text []byte) (at int64, err error) {
	if at, err := encoded(text); err != nil {
		return at, err
	}
	if at, err := bounded(text); err != nil {
		return at, err
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(text)) // refuses duplicate names
	if _, err := dec.ReadValue(); err != nil {
		return syntax(text, err)
	}
	end := dec.InputOffset()
	if rest := bytes.TrimLeft(text[end:], " \t\r\n"); len(rest) > 0 {
		return int64(len(text) - len(rest)), errors.New("more follows after the end of the object")
	}
	return 0, nil
}

// encoded checks that text is UTF-8. Common mistakes get their own message,
// since a byte order mark is invisible.
func encoded(text []byte) (at int64, err error) {
	switch {
	case len(text) <= limits.Text && len(bytes.TrimLeft(text, " \t\r\n")) == 0:
		return 0, errors.New("the file is empty")
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return 0, errors.New("the file begins with a UTF-8 byte order mark (BOM): save it as UTF-8 without one")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return 0, errors.New("the file is UTF-16: save it as UTF-8")
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		if at < 2 && len(text) > 3 && text[at^1] != 0 {
			return int64(at), errors.New("every other byte is NUL, as in UTF-16: save it as UTF-8")
		}
		return int64(at), errors.New("a NUL byte, as crashes leave: restore the file from a copy")
	}
	return 0, nil
}

// bounded checks that text is an object within the limits.
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

// syntax returns the byte and the cause of the decoder's error.
func syntax(text []byte, err error) (int64, error) {
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok || errors.Is(err, io.ErrUnexpectedEOF):
		return int64(len(text)), errors.New("the file ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return e.ByteOffset, fmt.Errorf("duplicate name %q at %q", e.JSONPointer.LastToken(), e.JSONPointer)
	}
	return e.ByteOffset, errors.New(strings.TrimPrefix(e.Err.Error(), "jsontext: "))
}

// kindOf returns a kind of JSON in words.
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
