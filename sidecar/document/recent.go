package document

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
)

const (
	// MaxRecent is how many ids a sidecar remembers, of commits and of patches
	// that were deferred.
	MaxRecent = 256
	// SureRecent is how many of the last commits are among them whatever was
	// folded: what a sidecar should remember and does not was never in it.
	SureRecent = MaxRecent / 2
	// MaxFolded is how many patches that are in a sidecar may still have files.
	MaxFolded = 8192
)

// ids is a list of nonces in the form in which it stands in a file, without
// its brackets: "…","…". Nonces have one length, so the list needs no parsing,
// and most who read a sidecar never look at it.
type ids []byte

const (
	idText = len(`"0123456789abc"`)
	idStep = idText + len(",")
)

// parseIDs reads a JSON array. One in which another hand put white space is
// written anew.
func parseIDs(array []byte, most int) (list ids, ok bool) {
	if array[0] != '[' {
		return nil, false
	}
	if list = ids(array[1 : len(array)-1 : len(array)-1]); list.canonical(most) {
		return list, true
	}
	var nonces []string
	if json.Unmarshal(array, &nonces) != nil || len(nonces) > most {
		return nil, false
	}
	list = makeIDs(nonces)
	return list, list.len() == len(nonces) // else some are none
}

// canonical reports whether list has the form of ids, so that it can be cut at
// any step, and there are most ids at most.
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
		if list[i] != '"' || list[end-1] != '"' || (end < len(list) && list[end] != ',') || !validNonce(list[i+1:end-1]) {
			return false
		}
	}
	return true
}

// add returns list with one more id, and without the oldest if it has most of
// them. It leaves list's bytes alone.
func (list ids) add(nonce string, most int) ids {
	if !validNonce([]byte(nonce)) {
		return list // Encode refuses the version that it came with
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

// insert returns list with more ids before the last keep of it, and without the
// oldest if there are more than most then. It leaves list's bytes alone.
func (list ids) insert(nonces []string, keep, most int) ids {
	more, at := makeIDs(nonces), max(0, list.len()-keep)*idStep
	if len(more) == 0 || len(list) == 0 {
		return append(list[:len(list):len(list)], more...)
	}
	longer := slices.Concat(list[:at], more, ids{','}, list[at:])
	return longer[max(0, longer.len()-most)*idStep:]
}

// makeIDs returns the ids of nonces; what is none is left out.
func makeIDs(nonces []string) ids {
	list := make(ids, 0, len(nonces)*idStep)
	for _, nonce := range nonces {
		if !validNonce([]byte(nonce)) {
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
	return validNonce([]byte(nonce)) && bytes.Contains(list, []byte(`"`+nonce+`"`))
}
