package document

import (
	"bytes"
	"slices"
	"strconv"
)

// Taken returns the highest number of a pending patch that was ever taken
// into d's fields, or rejected of them; 0 if there was none.
func (d *Document) Taken() uint64 { return d.taken }

// HasPassed reports whether a patch of the number n that is not among
// [Document.Folded] has missed its turn: a higher number was folded, and n was
// not one that was left for later. There is no patch of number 0.
func (d *Document) HasPassed(n uint64) bool {
	return n != 0 && n <= d.taken && !slices.Contains(d.left, n)
}

// SetTaken makes taken the number that [Document.Taken] returns. left are lower
// numbers of pending patches still, [MaxFolded] of them at most.
func (d *Document) SetTaken(taken uint64, left []uint64) {
	d.taken, d.left = taken, left[max(0, len(left)-MaxFolded):]
}

// TakePending gives d what another document says of pending patches.
func (d *Document) TakePending(from *Document) {
	d.folded, d.taken, d.left = from.folded, from.taken, from.left
}

// appendCounts appends the elements of a list.
func appendCounts(dst []byte, list []uint64) []byte {
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, n, 10)
	}
	return dst
}

// parseCounts reads the elements of a list, without its brackets.
func parseCounts(text []byte, most int) (list []uint64, ok bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, true
	}
	for item := range bytes.SplitSeq(text, []byte{','}) {
		n, ok := parseCount(bytes.TrimSpace(item))
		if !ok || len(list) == most {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

// counts reads a list of numbers, most of them at most.
func (s *scanner) counts(name []byte, most int) []uint64 {
	v := s.value()
	if s.err != nil {
		return nil
	}
	if v[0] == '[' {
		if list, ok := parseCounts(v[1:len(v)-1], most); ok {
			return list
		}
	}
	s.refuse(s.at, "%s must be a list of at most %d integers from 0 to %d", name, most, uint64(MaxEpoch))
	return nil
}

// passed reads what [Document.SetTaken] keeps, as far as it is there.
func (c *cursor) passed() (taken uint64, left []uint64) {
	taken = c.nonzero(`"taken":`, ",")
	if c.skipIf(`"left":[`) {
		end := bytes.IndexByte(c.rest(), ']')
		if end < 1 || bytes.ContainsAny(c.rest()[:end], " \t\r\n") {
			c.ok = false
			return 0, nil
		}
		list, ok := parseCounts(c.rest()[:end], MaxFolded)
		c.pos += end
		c.ok = c.ok && ok
		c.skip("],")
		left = list
	}
	return taken, left
}
