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

// limits bound a legacy file before anything is built from it.
var limits = schema.Limits{Depth: 512, Values: 1 << 18, Text: 1 << 20}

// A Legacy is a parsed legacy file. It is immutable.
type Legacy struct {
	// Path of the file, as given to [Read] or [Parse].
	Path string

	text   []byte
	object schema.Object
}

// Keys returns the keys of the file, in its order.
func (l *Legacy) Keys() (keys []string) {
	for _, m := range l.object {
		keys = append(keys, m.Name)
	}
	return keys
}

func (l *Legacy) name() string { return filepath.Base(l.Path) }

// Parse parses the text of the legacy file at path. The text must be one JSON
// object, read as strictly as a sidecar; otherwise the error wraps
// [store.Invalid] and names the line, the column and the byte; a thing of a format that
// is almost JSON by its name. Keys that differ only in case are
// different keys.
func Parse(path string, text []byte) (*Legacy, error) {
	invalid := func(note string, err error) error {
		return &store.Error{Status: store.Invalid, Path: path, Remedy: store.Remedy{Note: note}, Err: err}
	}
	if at, err := check(text); err != nil {
		line, col := place(text, at)
		return nil, invalid("correct the file, then adopt it", fmt.Errorf("%s:%d:%d: byte %d: %w", path, line, col, at, err))
	}
	object, err := schema.ParseObject(text)
	if err != nil { // unreachable after check
		return nil, invalid("", err)
	}
	if _, ok := object.Value("$sidecar"); ok {
		return nil, invalid("name the legacy file instead", errors.New("the file is a sidecar"))
	}
	return &Legacy{path, text, object}, nil
}

// check returns the first fault of text and its byte. The cheap checks come
// first.
func check(text []byte) (at int64, err error) {
	if at, err := encoded(text); err != nil {
		return at, err
	}
	rest := bytes.TrimLeft(text, " \t\r\n")
	if kind, other := kinds[jsontext.Value(rest).Kind()]; other {
		return int64(len(text) - len(rest)), fmt.Errorf("want an object, not %s", kind)
	}
	if e, ok := errors.AsType[*schema.LimitError](limits.Check(text)); ok {
		return int64(e.Offset), e
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(text)) // refuses duplicate names
	if _, err := dec.ReadValue(); err != nil {
		return syntax(text, err)
	}
	if rest := bytes.TrimLeft(text[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		at := int64(len(text) - len(rest))
		if rest[0] == '{' {
			return at, errors.New("a second object begins, as in a log with an object on each line (NDJSON): adopt a file with one object")
		}
		if err := almost(text, at); err != nil {
			return at, err
		}
		return at, errors.New("more follows after the end of the object")
	}
	return 0, nil
}

// encoded reports common mistakes of encoding, many of which are invisible.
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

func syntax(text []byte, err error) (int64, error) {
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case !ok || errors.Is(err, io.ErrUnexpectedEOF):
		return int64(len(text)), errors.New("the file ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return e.ByteOffset, fmt.Errorf("duplicate name %q at %q", e.JSONPointer.LastToken(), e.JSONPointer)
	}
	if err := almost(text, e.ByteOffset); err != nil {
		return e.ByteOffset, err
	}
	says := strings.TrimPrefix(e.Err.Error(), "jsontext: ")
	switch {
	case strings.Contains(says, "non-control character") && text[e.ByteOffset] == '\n':
		return e.ByteOffset, errors.New(`a line ends inside of a text: write \n for the line feed`)
	case strings.Contains(says, "non-control character"):
		return e.ByteOffset, fmt.Errorf(`a control character inside of a text: write \u%04x for it`, text[e.ByteOffset])
	case strings.Contains(says, "surrogate"):
		return e.ByteOffset, errors.New("half a character, a surrogate without its other half: write the whole one")
	case says == "invalid UTF-8":
		return e.ByteOffset, errors.New("a byte that is not UTF-8, as of a character that was cut: save the file as UTF-8")
	}
	return e.ByteOffset, errors.New(says)
}

// kinds are the kinds of JSON other than an object, in words.
var kinds = map[jsontext.Kind]string{
	jsontext.KindNull: "null", jsontext.KindTrue: "a boolean", jsontext.KindFalse: "a boolean",
	jsontext.KindString: "a string", jsontext.KindNumber: "a number", jsontext.KindBeginArray: "an array",
}

// changed returns the places where the legacy file differs from the read text.
func (l *Legacy) changed() ([]jsontext.Pointer, error) {
	now, err := look(l.Path)
	if err != nil {
		return nil, err
	}
	if now.absent {
		return nil, active(l.Path, "stop the program that removed the file, then adopt it again", "the file was removed while it was adopted")
	}
	if bytes.Equal(now.text, l.text) {
		return nil, nil
	}
	change := "the same values"
	var differ []jsontext.Pointer
	if other, err := Parse(l.Path, now.text); err != nil {
		change = "invalid text"
	} else if differ = differences(nil, "", l.text, other.text); len(differ) > 0 {
		change = "other values at " + enumerate(differ)
	}
	return differ, active(l.Path, "stop the program that writes the file, adopt the file again, and compare the values that the state keeps",
		"the file was rewritten with %s while it was adopted", change)
}

// active returns the error of a legacy file that changes.
func active(path, note, format string, args ...any) error {
	return &store.Error{Status: store.Busy, Path: path, Remedy: store.Remedy{Note: note}, Err: fmt.Errorf("a legacy writer is active: "+format, args...)}
}

// differences appends to list the places where the JSON values a and b differ:
// first those in a, then those only in b.
func differences(list []jsontext.Pointer, at jsontext.Pointer, a, b []byte) []jsontext.Pointer {
	if jsontext.Value(a).Kind() != jsontext.KindBeginObject || jsontext.Value(b).Kind() != jsontext.KindBeginObject {
		x, y := jsontext.Value(a).Clone(), jsontext.Value(b).Clone()
		if x.Compact() != nil || y.Compact() != nil || !bytes.Equal(x, y) {
			list = append(list, at)
		}
		return list
	}
	before, _ := schema.ParseObject(a) // both were read before
	after, _ := schema.ParseObject(b)
	now := map[string][]byte{}
	for _, m := range after {
		now[m.Name] = m.Value
	}
	for _, m := range before {
		if value, ok := now[m.Name]; ok {
			list = differences(list, at.AppendToken(m.Name), m.Value, value)
		} else {
			list = append(list, at.AppendToken(m.Name))
		}
		delete(now, m.Name)
	}
	for _, m := range after {
		if _, ok := now[m.Name]; ok {
			list = append(list, at.AppendToken(m.Name))
		}
	}
	return list
}

func enumerate(list []jsontext.Pointer) string {
	const most = 8
	var words []string
	for _, p := range list[:min(len(list), most)] {
		words = append(words, shown(p))
	}
	text := strings.Join(words, ", ")
	if len(list) > most {
		text += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return text
}
