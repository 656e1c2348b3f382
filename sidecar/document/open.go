package document

import (
	"bytes"
)

// An Opening is an event that has begun and is neither done nor abandoned.
type Opening struct {
	// Token is the nonce that whoever began it was given.
	Token string
	// Provenance says who began it, when and in which version.
	Provenance
}

// Open returns what has begun of the event field name and is not done, in the
// order in which it began.
func (d *Document) Open(name string) []Opening {
	i := d.entry(name)
	if i < 0 {
		return nil
	}
	var open []Opening
	pairs(d.fields[i].now().open, func(key, value []byte) {
		e := entry{key: key, raw: value}
		open = append(open, Opening{string(unquoteName(key)), e.provenance()})
	})
	return open
}

// Begin notes that an event began under token, a nonce. The field's version
// stays: nothing is done yet. [Document.Encode] checks it.
func (d *Document) Begin(name, token string, by Provenance) {
	w := written{Provenance: by}
	d.reopen(name, token, appendObject(nil, nil, required, w.append))
}

// End takes token from what is open, and reports whether it was. Who ended it,
// and when, [Document.Set] or [Document.Clear] record.
func (d *Document) End(name, token string) (was bool) {
	for _, o := range d.Open(name) {
		was = was || o.Token == token
	}
	if was {
		d.reopen(name, token, nil)
	}
	return was
}

// reopen puts object in the place of what is open under token, or takes it out.
func (d *Document) reopen(name, token string, object []byte) {
	i := d.entry(name)
	if i < 0 {
		i = len(d.fields)
		d.named = true
		d.fields = append(d.fields, entry{key: quote(name)})
	}
	set := d.fields[i].rewrite()
	open := []byte{'{'}
	add := func(key, value []byte) {
		if len(open) > 1 {
			open = append(open, ',')
		}
		open = append(append(append(open, key...), ':'), value...)
	}
	pairs(set.open, func(key, value []byte) {
		if string(unquoteName(key)) != token {
			add(key, value)
		}
	})
	if object != nil {
		add(quote(token), object)
	}
	if set.open = nil; len(open) > 1 {
		set.open = append(open, '}')
	}
}

// openings reads what is open of an event. Nothing is as good as no member.
func (s *scanner) openings() []byte {
	object := s.value()
	if s.err != nil {
		return nil
	}
	if object[0] != '{' {
		s.refuse(s.at, "open must be an object, not %s", kind(object))
		return nil
	}
	n := 0
	pairs(object, func(key, value []byte) {
		n++
		if !validNonce(unquoteName(key)) {
			s.refuse(s.at, "open has the token %.80q, which is none", unquoteName(key))
		}
		if value[0] != '{' {
			s.refuse(s.at, "what is open must be an object, not %s", kind(value))
			return
		}
		e := entry{key: key, raw: bytes.Clone(value)}
		s.examine(&e)
	})
	if n == 0 {
		return nil
	}
	return object
}
