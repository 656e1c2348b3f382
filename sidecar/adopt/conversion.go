package adopt

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// A converter converts legacy values to stored ones and collects its findings.
type converter struct {
	file    string
	unset   []Place
	unowned []Place
	misfits Misfits
}

// A spot is a place in the file with the words for its field.
type spot struct {
	at    jsontext.Pointer
	label string
}

func (s spot) member(key, name string) spot {
	return spot{s.at.AppendToken(key), fmt.Sprintf("member %s of %s", name, s.label)}
}

func (c *converter) misfit(at spot, err error) {
	c.complain(at.at, "%v: correct the value, or declare %s otherwise", err, at.label)
}

func (c *converter) complain(at jsontext.Pointer, format string, args ...any) {
	c.misfits = append(c.misfits, misfit{c.file, at, fmt.Sprintf(format, args...)})
}

// value returns raw as the field f stores it; or false if there is nothing to
// store, and c holds the reason.
func (c *converter) value(f schema.Field, at spot, raw []byte) (value []byte, ok bool) {
	kind := jsontext.Value(raw).Kind()
	if kind == jsontext.KindNull && f.Type != schema.TypeJSON {
		return c.noValue(at, raw)
	}
	var err error
	switch {
	case f.EffectiveKind() == schema.Set && emptyList(raw): // an empty set is not stored
		return c.noValue(at, raw)
	case f.EffectiveKind() == schema.Set, f.Type == schema.TypeList:
		raw, ok = c.list(f, at, raw)
	case f.Type == schema.TypeRecord:
		raw, ok = c.record(f, at, raw)
	case f.Type == schema.TypeTime && neverSet(raw):
		return c.noValue(at, raw)
	default:
		raw, err = scalar(f.Type, raw)
		ok = true
	}
	if !ok {
		return nil, false
	}
	if err == nil {
		value, err = f.Normalize(raw)
	}
	if err != nil {
		c.misfit(at, err)
		return nil, false
	}
	return value, true
}

func (c *converter) noValue(at spot, marker []byte) ([]byte, bool) {
	c.unset = append(c.unset, Place{Pointer: at.at, Marker: marker})
	return nil, false
}

func (c *converter) list(f schema.Field, at spot, raw []byte) (value []byte, ok bool) {
	parts, err := elements(raw)
	if err != nil {
		c.misfit(at, err)
		return nil, false
	}
	of, _ := f.Element()
	var converted [][]byte
	for i, part := range parts {
		element, ok := c.element(of, spot{at.at.AppendToken(fmt.Sprint(i)), "an element of " + at.label}, part)
		if ok {
			converted = append(converted, element)
		}
	}
	return schema.JoinElements(converted), len(converted) == len(parts)
}

// element converts an element. An element cannot be unset.
func (c *converter) element(f schema.Field, at spot, raw []byte) (value []byte, ok bool) {
	before := len(c.unset)
	value, ok = c.value(f, at, raw)
	if !ok && len(c.unset) > before {
		c.unset = c.unset[:before]
		c.misfit(at, fmt.Errorf("an element cannot be unset, as %.40s says", shown(string(raw))))
	}
	return value, ok
}

func (c *converter) record(f schema.Field, at spot, raw []byte) (value []byte, ok bool) {
	o, err := schema.ParseObject(raw)
	if err != nil {
		c.misfit(at, err)
		return nil, false
	}
	var record schema.Object
	before := len(c.misfits)
	for name, m := range c.owned(keysOf(f.Fields), at, o) {
		if value, ok := c.value(f.Fields[name], at.member(m.Name, name), m.Value); ok {
			record = record.With(name, value)
		}
	}
	return record.Append(nil), len(c.misfits) == before
}

func elements(raw []byte) ([][]byte, error) {
	list := schema.Field{Type: schema.TypeList, Of: &schema.Field{Type: schema.TypeJSON}}
	return list.Elements(raw)
}

func emptyList(raw []byte) bool {
	parts, err := elements(raw)
	return err == nil && len(parts) == 0
}
