package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

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

// A scanner walks over a text once and hands out its parts as slices of it.
// The grammar is jsontext's; the caps, the offsets and the rule about names
// that differ only in case are added here.
//
// Errors stick: after the first, every method returns zero values. They are of
// three kinds, because a newer release may give other meanings to well-formed
// text, and then its format number is what there is to say: err is about the
// text, format about the number, wrong about what this release makes of it.
type scanner struct {
	dec    jsontext.Decoder
	source bytes.Buffer
	text   []byte
	base   int      // offset of text in the file
	at     int      // where the value that was read last begins in text
	room   int      // how deep objects and arrays may nest
	names  []nameAt // of the objects that are being read
	err    error
	format error
	wrong  error
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scan runs read over text, which begins at the offset base of its file. The
// caller looks for errors and releases the scanner.
func scan(text []byte, base int, read func(*scanner)) *scanner {
	return scanWithin(MaxDepth, text, base, read)
}

// scanWithin is scan for a text in which objects and arrays may nest so deep.
func scanWithin(room int, text []byte, base int, read func(*scanner)) *scanner {
	s := scanners.Get().(*scanner)
	s.source = *bytes.NewBuffer(text)
	s.dec.Reset(&s.source)
	s.text, s.base, s.at, s.room, s.names = text, base, 0, room, s.names[:0]
	s.err, s.format, s.wrong = nil, nil, nil
	s.bound()
	read(s)
	s.end()
	return s
}

// release makes the scanner free for others. It may keep the text alive until
// the next one.
func (s *scanner) release() {
	clear(s.names[:cap(s.names)])
	s.text = nil
	scanners.Put(s)
}

// failure returns the first error in order of precedence.
func (s *scanner) failure() error {
	for _, err := range []error{s.err, s.format, s.wrong} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) pos() int { return int(s.dec.InputOffset()) }

// fail notes that the text breaks at an offset. The first failure stays.
func (s *scanner) fail(at int, format string, args ...any) {
	if s.err == nil {
		s.err = &SyntaxError{int64(s.base + at), fmt.Sprintf(format, args...)}
	}
}

// refuse notes that the well-formed value at an offset has no meaning here.
func (s *scanner) refuse(at int, format string, args ...any) {
	if s.wrong == nil {
		s.wrong = &SyntaxError{int64(s.base + at), fmt.Sprintf(format, args...)}
	}
}

// next returns the byte at which the next token begins, or 0. It only looks:
// what stands before it, the decoder checks.
func (s *scanner) next() byte {
	for _, c := range s.text[s.pos():] {
		switch c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// object reads an object, calls member for each of its members, which reads
// the value, and returns the object's bytes. If another kind of value stands
// there, it refuses that and returns nil. what is the object in words.
func (s *scanner) object(what string, member func(key, name []byte), known ...string) []byte {
	if s.next() != '{' || s.err != nil {
		if v := s.value(); s.err == nil {
			s.refuse(s.at, "%s must be an object, not %s", what, kind(v))
		}
		return nil
	}
	s.token()
	start, first := s.pos()-1, len(s.names)
	for s.err == nil && s.next() != '}' {
		key := s.value()
		name := unquoteName(key)
		if len(s.names)-first == MaxMembers {
			s.fail(s.at, "more than %d members in one object", MaxMembers)
		}
		s.names = append(s.names, nameAt{name, s.at})
		if s.err == nil {
			member(key, name)
		}
	}
	s.token()
	if i, j, ok := clash(s.names[first:]); ok {
		a, b := s.names[first+i], s.names[first+j]
		s.fail(b.at, "the name %q differs only in case from %q at byte %d", b.text, a.text, s.base+a.at)
	}
	s.unlike(s.names[first:], known)
	s.names = s.names[:first]
	if s.err != nil {
		return nil
	}
	return s.text[start:s.pos():s.pos()]
}

// unlike refuses a name that differs only in case from one that the format
// knows, even where that one is absent: the next commit may write it.
func (s *scanner) unlike(names []nameAt, known []string) {
	for _, n := range names {
		if len(known) == 0 || plain(n.text) {
			continue
		}
		for _, name := range known {
			if strings.EqualFold(string(n.text), name) {
				s.fail(n.at, "the name %q differs only in case from %q, which the format knows", n.text, name)
			}
		}
	}
}

// value reads any value, or a member's name, and returns its bytes.
func (s *scanner) value() []byte {
	if s.err != nil {
		return nil
	}
	read, err := s.dec.ReadValue()
	if err != nil {
		s.syntax(err)
		return nil
	}
	end := s.pos()
	s.at = end - len(read)
	return s.text[s.at:end:end]
}

// bound holds the text to the caps before the decoder sees it, which remembers
// every name of an object. Counting shows of nearly all texts that they cannot
// exceed a cap.
func (s *scanner) bound() {
	opened := bytes.Count(s.text, []byte{'{'}) + bytes.Count(s.text, []byte{'['})
	if opened <= s.room && bytes.Count(s.text, []byte{':'}) <= MaxKeys {
		return
	}
	err := schema.Limits{Depth: s.room, Members: MaxKeys}.Check(s.text)
	if e, ok := errors.AsType[*schema.LimitError](err); ok {
		s.fail(e.Offset, "%v", e)
	}
}

// token reads a bracket.
func (s *scanner) token() {
	if s.err != nil {
		return
	}
	if _, err := s.dec.ReadToken(); err != nil {
		s.syntax(err)
	}
}

// end fails unless nothing but white space is left.
func (s *scanner) end() {
	if s.err != nil {
		return
	}
	rest := bytes.TrimLeft(s.text[s.pos():], " \t\r\n")
	if len(rest) > 0 {
		s.fail(len(s.text)-len(rest), "more follows after the end of the object")
	}
}

// syntax turns the decoder's error into ours.
func (s *scanner) syntax(err error) {
	var e *jsontext.SyntacticError
	switch {
	case !errors.As(err, &e):
		s.fail(len(s.text), "the file ends too early") // io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.fail(len(s.text), "the file ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		s.fail(int(e.ByteOffset), "the name %q stands there twice", e.JSONPointer.LastToken())
	default:
		s.fail(int(e.ByteOffset), "%s", strings.TrimPrefix(e.Err.Error(), "jsontext: "))
	}
}
