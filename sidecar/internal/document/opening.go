package document

import "github.com/freehold-dev/freehold/schema"

// An Opening is an event that has begun and is neither done nor abandoned.
type Opening struct {
	// Token is the nonce that the caller of [Document.Begin] drew.
	Token string
	// Provenance of the beginning.
	Provenance
}

// Open returns the openings of the event field name, oldest first.
func (d *Document) Open(name string) []Opening {
	i := d.entry(name)
	if i < 0 {
		return nil
	}
	var open []Opening
	pairs(d.fields[i].now().open, func(key, value []byte) {
		e := entry{raw: value}
		open = append(open, Opening{string(unquoteName(key)), e.provenance()})
	})
	return open
}

// Begin adds an opening under token, a nonce. The field's version stays, since
// nothing is done yet. [Document.Encode] checks the token and the provenance.
func (d *Document) Begin(name, token string, by Provenance) {
	d.setOpening(name, token, appendObject(nil, nil, provenanceShape, by.append))
}

// End removes the opening of token, and reports whether there was one.
// [Document.Set] or [Document.Clear] record the end itself.
func (d *Document) End(name, token string) (was bool) {
	for _, o := range d.Open(name) {
		was = was || o.Token == token
	}
	if was {
		d.setOpening(name, token, nil)
	}
	return was
}

// setOpening replaces the opening of token by object, or removes it if object
// is nil.
func (d *Document) setOpening(name, token string, object []byte) {
	set := d.fields[d.addEntry(name)].rewrite()
	open := []byte{'{'}
	pairs(set.open, func(key, value []byte) {
		if string(unquoteName(key)) != token {
			open = append(appendKey(open, key), value...)
		}
	})
	if object != nil {
		open = append(appendKey(open, appendString(nil, token)), object...)
	}
	if set.open = nil; len(open) > 1 {
		set.open = append(open, '}')
	}
}

// openings reads the openings of an event; nil if there is none.
func (s *scanner) openings() []byte {
	if !s.isObject("open") {
		return nil
	}
	start, n := s.pos, 0
	s.each(func(key []byte) {
		n++
		if !schema.ValidNonce(unquoteName(key)) {
			s.refuse(s.at, "open has the invalid token %.80q", unquoteName(key))
		}
		s.entry()
	})
	if n == 0 {
		return nil
	}
	return s.since(start)
}
