package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// A Misfit is a value that a changed declaration cannot take over.
type Misfit struct {
	// Pointer to the value, from the converted value.
	Pointer jsontext.Pointer
	// Value as it is stored.
	Value jsontext.Value
	// Why it cannot be taken over.
	Why string
}

// A LeftOut is a part of a value that a changed declaration has no place for.
type LeftOut struct {
	// Pointer to the part, from the converted value.
	Pointer jsontext.Pointer
	// Value of the part, as it is stored.
	Value jsontext.Value
	// Field is the former declaration of the part.
	Field Field
	// Successor is the member that was this one by its declaration, if that was
	// set already; or empty.
	Successor string
}

// Convert returns raw, a stored value of f, as a value of to. Only exact
// conversions are made; the others are returned as misfits: a number that would
// be rounded, text that is no instant, a value that an enum has no more, a list
// with an order that a set would lose, and a text that is a value of to and was
// none of f. Members of a record that f declares and to does not are left out and
// returned; members that neither declares stay. Maps with records are converted
// by their members, one by one.
func (f Field) Convert(to Field, raw []byte) ([]byte, []LeftOut, []Misfit) {
	var c converter
	converted := c.value("", f, to, raw)
	return converted, c.left, c.misfits
}

type converter struct {
	left    []LeftOut
	misfits []Misfit
}

func (c *converter) refuse(at jsontext.Pointer, raw []byte, format string, args ...any) []byte {
	c.misfits = append(c.misfits, Misfit{at, jsontext.Value(raw).Clone(), fmt.Sprintf(format, args...)})
	return raw
}

// A manner is how the stored values of a kind are converted.
type manner int

const (
	unknownManner manner = iota
	byValue              // the value by its type
	byElement            // an array, each element by itself
	byKey                // an object, key by key
	byClaim              // a file of its own, which stays
)

// manners says it of every kind. A kind that is missing here cannot be
// upgraded, and a test finds it.
var manners = map[Kind]manner{Value: byValue, Max: byValue, Min: byValue, Counter: byValue, Once: byClaim, Event: byValue, Set: byElement, Map: byKey}

// manner is that of f's kind, and of a list that of its elements.
func (f Field) manner() manner {
	if f.Type == TypeList {
		return byElement
	}
	return manners[f.EffectiveKind()]
}

// Fits reports whether every value of f is one of to as it stands.
func (f Field) Fits(to Field) bool {
	var m merger
	m.field("", f, to)
	return len(m.clashes) == 0 && subset(f.sortedParts(), to.sortedParts())
}

func (c *converter) value(at jsontext.Pointer, from, to Field, raw []byte) []byte {
	how := from.manner()
	switch {
	case how == unknownManner || to.manner() == unknownManner:
		return c.refuse(at, raw, "%s cannot become %s", from.describe(), to.describe())
	case from.Fits(to), to.Type == TypeJSON && to.EffectiveKind() == Value:
		return c.kept(at, from, to, raw)
	case from.Type == TypeJSON:
		return c.checked(at, to, raw)
	case how != to.manner() || how == byClaim:
		return c.refuse(at, raw, "%s cannot become %s", from.describe(), to.describe())
	case how == byElement:
		return c.elements(at, from, to, raw)
	case how == byKey:
		return c.keys(at, from, to, raw)
	case from.Type == TypeRecord && to.Type == TypeRecord:
		return c.record(at, from.Fields, to.Fields, raw)
	case from.Type == TypeRecord || to.Type == TypeRecord:
		return c.refuse(at, raw, "%s cannot become %s", from.describe(), to.describe())
	}
	return c.plain(at, from, to, raw)
}

// kept returns raw, which stays as it is. A wrong value may stay wrong, and does
// not become right unseen.
func (c *converter) kept(at jsontext.Pointer, from, to Field, raw []byte) []byte {
	_, wrong := from.Normalize(raw)
	if wrong == nil {
		return raw
	}
	if _, err := to.Normalize(raw); err != nil {
		return raw
	}
	return c.mistyped(at, raw, wrong)
}

// mistyped refuses raw, which is no value of its declared type.
func (c *converter) mistyped(at jsontext.Pointer, raw []byte, err error) []byte {
	return c.refuse(at, raw, "it is not of its declared type: %v", err)
}

// checked returns raw as to stores it.
func (c *converter) checked(at jsontext.Pointer, to Field, raw []byte) []byte {
	value, err := to.Normalize(raw)
	if err != nil {
		return c.refuse(at, raw, "%v", err)
	}
	return value
}

func (c *converter) elements(at jsontext.Pointer, from, to Field, raw []byte) []byte {
	before, err := from.Elements(raw)
	if err != nil {
		return c.mistyped(at, raw, err)
	}
	element, _ := from.Element()
	becomes, _ := to.Element()
	after := make([][]byte, len(before))
	found := len(c.misfits)
	for i, e := range before {
		after[i] = c.value(at.AppendToken(strconv.Itoa(i)), element, becomes, e)
	}
	if len(c.misfits) > found {
		return raw
	}
	joined := JoinElements(after)
	if to.EffectiveKind() == Set && from.EffectiveKind() != Set {
		if set := c.checked(at, to, joined); string(set) != string(joined) {
			return c.refuse(at, raw, "a set would lose the order or the number of its elements")
		}
		return joined
	}
	return c.checked(at, to, joined)
}

func (c *converter) keys(at jsontext.Pointer, from, to Field, raw []byte) []byte {
	if from.Value == nil || to.Value == nil {
		return c.refuse(at, raw, "%s cannot become %s", from.describe(), to.describe())
	}
	o, err := ParseObject(raw)
	if err != nil {
		return c.mistyped(at, raw, err)
	}
	for i, m := range o {
		o[i].Value = c.value(at.AppendToken(m.Name), *from.Value, *to.Value, m.Value)
	}
	return o.Append(nil)
}

func (c *converter) record(at jsontext.Pointer, from, to map[string]Field, raw []byte) []byte {
	before, err := ParseObject(raw)
	if err != nil {
		return c.mistyped(at, raw, err)
	}
	after := slices.DeleteFunc(slices.Clone(before), func(m ObjectMember) bool {
		_, declared := from[m.Name]
		return declared
	})
	used := map[string]bool{}
	declares := func(name string) bool { _, ok := to[name]; return ok }
	for _, name := range (Field{Fields: to}).MemberNames() {
		for _, former := range slices.Backward(formerMember(name, to[name].Was, declares)) { // a member that is set keeps its value
			spec, declared := from[former]
			value, ok := before.Value(former)
			if !declared || !ok {
				continue
			}
			used[former] = true
			after = after.With(name, c.value(at.AppendToken(former), spec, to[name], value))
			break
		}
	}
	for _, m := range before {
		if spec, declared := from[m.Name]; declared && !used[m.Name] {
			c.left = append(c.left, LeftOut{at.AppendToken(m.Name), jsontext.Value(m.Value).Clone(), spec, successor(to, m.Name)})
		}
	}
	after.sort()
	return after.Append(nil)
}

// plain converts a value without parts.
func (c *converter) plain(at jsontext.Pointer, from, to Field, raw []byte) []byte {
	if _, err := from.Normalize(raw); err != nil {
		return c.mistyped(at, raw, err)
	}
	text := from.Text(raw)
	spelt := func(t Type) bool { return t == TypeString || t == TypeEnum }
	switch {
	case from.Type == to.Type:
		return c.checked(at, to, raw)
	case from.numeric() && to.numeric():
		n, err := decimal.NewFromString(text)
		if err == nil {
			err = boundDecimal(n)
		}
		if err != nil {
			return c.refuse(at, raw, "%v", err)
		}
		text = n.String()
	case !spelt(from.Type) && !spelt(to.Type):
		return c.refuse(at, raw, "%s cannot become %s", from.describe(), to.describe())
	}
	value, err := to.Parse(text)
	if err != nil {
		return c.refuse(at, raw, "%v", err)
	}
	if to.Type == TypeFloat && !sameNumber(text, to.Text(value)) {
		return c.refuse(at, raw, "a float would round it to %s", to.Text(value))
	}
	return value
}

func (f Field) numeric() bool {
	return slices.Contains([]Type{TypeInt, TypeUint, TypeFloat, TypeDecimal}, f.Type)
}

func sameNumber(a, b string) bool {
	x, err := decimal.NewFromString(a)
	// Comparing writes out all digits of an exponent, which text can make any.
	if err != nil || x.Exponent() > 400 || x.Exponent() < -MaxString {
		return false
	}
	y, err := decimal.NewFromString(b)
	return err == nil && x.Equal(y)
}
