package document

import (
	"bytes"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json"
)

const (
	// MaxRecent is how many ids of commits and of folded patches a sidecar
	// remembers.
	MaxRecent = 256
	// SureRecent is how many of the last commits are always among them: a
	// commit that a sidecar should remember and does not was never in it.
	SureRecent = MaxRecent / 2
	// MaxFolded is how many folded patches may still have their files.
	MaxFolded = 8192
)

// ids is a list of nonces as a file has it, without the brackets: "…","…".
// Nonces have one length, so the list needs no parsing, and few readers of a
// sidecar need it.
type ids []byte

const (
	idText = len(`"0123456789abc"`)
	idStep = idText + len(",")
)

// ids reads a list of at most most nonces. A list with white space or escapes
// is written anew.
func (s *scanner) ids(name string, most int) ids {
	if s.text[s.pos] == '[' {
		end := bytes.IndexByte(s.text[s.pos:], ']') + s.pos
		if list := ids(s.text[s.pos+1 : end : end]); list.canonical(most) {
			s.at, s.pos = s.pos, end+1
			return list
		}
	}
	var nonces []string
	v := s.value()
	if json.Unmarshal(v, &nonces) == nil && len(nonces) <= most && v[0] == '[' {
		if list := makeIDs(nonces); list.len() == len(nonces) { // else some are invalid
			return list
		}
	}
	s.refuse(s.at, "%s must be a list of at most %d nonces", name, most)
	return nil
}

// canonical reports whether list has the form of ids, so that it can be cut at
// any step, and at most most ids.
func (list ids) canonical(most int) bool {
	if len(list) == 0 {
		return true
	}
	count := (len(list) + 1) / idStep
	if count*idStep != len(list)+1 || count > most {
		return false
	}
	for i := 0; i < len(list); i += idStep {
		end := i + idText
		if list[i] != '"' || list[end-1] != '"' || (end < len(list) && list[end] != ',') || !schema.ValidNonce(list[i+1:end-1]) {
			return false
		}
	}
	return true
}

// add returns list with one more id, and without the oldest if it has most of
// them. list keeps its bytes.
func (list ids) add(nonce string, most int) ids {
	if len(nonce) != schema.NonceLen {
		return list // Encode refuses the version with this nonce
	}
	if len(list) == most*idStep-1 {
		list = list[idStep:]
	}
	longer := make(ids, 0, len(list)+idStep)
	if len(list) > 0 {
		longer = append(append(longer, list...), ',')
	}
	return append(append(append(longer, '"'), nonce...), '"')
}

// insert returns list with more ids before its last keep ids, and without the
// oldest ids above most. list keeps its bytes.
func (list ids) insert(nonces []string, keep, most int) ids {
	more, at := makeIDs(nonces), max(0, list.len()-keep)*idStep
	if len(more) == 0 || len(list) == 0 {
		return append(list[:len(list):len(list)], more...)
	}
	longer := slices.Concat(list[:at], more, ids{','}, list[at:])
	return longer[max(0, longer.len()-most)*idStep:]
}

// makeIDs returns the ids of nonces, without invalid ones.
func makeIDs(nonces []string) ids {
	list := make(ids, 0, len(nonces)*idStep)
	for _, nonce := range nonces {
		if !schema.ValidNonce(nonce) {
			continue
		}
		if len(list) > 0 {
			list = append(list, ',')
		}
		list = append(append(append(list, '"'), nonce...), '"')
	}
	return list
}

func (list ids) len() int { return (len(list) + 1) / idStep }

func (list ids) list() []string {
	if len(list) == 0 {
		return nil
	}
	nonces := make([]string, 0, list.len())
	for i := 0; i < len(list); i += idStep {
		nonces = append(nonces, string(list[i+1:i+idText-1]))
	}
	return nonces
}

func (list ids) has(nonce string) bool {
	return schema.ValidNonce(nonce) && bytes.Contains(list, []byte(`"`+nonce+`"`))
}

// append appends the list in its brackets.
func (list ids) append(dst []byte) []byte { return append(append(append(dst, '['), list...), ']') }
