package schema

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// ErrOverflow is returned by [Field.Sum] if the sum does not fit the type.
var ErrOverflow = errors.New("the sum does not fit the field's type")

// Normalize returns raw, a JSON value, in the one form in which a field like
// f stores it: instants in UTC, decimals without padding zeros, the members of
// a record, the elements of a set and the keys of a map in order. Members that
// f does not declare keep their bytes. It is an error if raw is not a value of
// f's type.
func (f Field) Normalize(raw []byte) ([]byte, error) {
	switch f.EffectiveKind() {
	case Set:
		return f.normalizeList(raw)
	case Map:
		return f.normalizeMap(raw)
	}
	switch f.Type {
	case TypeList:
		return f.normalizeList(raw)
	case TypeRecord:
		return normalizeRecord(f.Fields, raw)
	case TypeJSON:
		return normalize(JSON, raw)
	case TypeBool:
		return normalize(Bool, raw)
	case TypeInt:
		return normalize(Int, raw)
	case TypeUint:
		return normalize(Uint, raw)
	case TypeFloat:
		return normalize(Float, raw)
	case TypeDecimal:
		return normalize(Decimal, raw)
	case TypeString:
		return normalize(String, raw)
	case TypeTime:
		return normalize(Time, raw)
	case TypeDuration:
		return normalize(Duration, raw)
	case TypeEnum:
		text, err := unquote(raw, MaxString)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(f.Values, text) {
			err := fmt.Errorf("want one of %s, not %q", strings.Join(f.Values, ", "), text)
			if near, ok := Nearest(text, f.Values); ok {
				err = fmt.Errorf("%w (did you mean %s?)", err, near)
			}
			return nil, err
		}
		return jsontext.AppendQuote(nil, text)
	}
	return nil, fmt.Errorf("no such type: %q: use the release that wrote the declaration", f.Type)
}

func normalize[T any](c Codec[T], raw []byte) ([]byte, error) {
	v, err := c.Decode(raw)
	if err != nil {
		return nil, err
	}
	return c.Append(nil, v)
}

// Parse reads a value as a person types it, without JSON's quotes: text for a
// string, an enum, a decimal, an instant or a duration; digits or true and
// false for other plain values; JSON for a list, a record, a set or a map. The
// result is that of [Field.Normalize].
func (f Field) Parse(text string) ([]byte, error) {
	if f.EffectiveKind() == Set {
		return f.Normalize([]byte(text))
	}
	switch f.Type {
	case TypeString, TypeEnum, TypeDecimal, TypeTime, TypeDuration:
		if i := invalidUTF8(text); i >= 0 {
			return nil, fmt.Errorf("invalid UTF-8 at byte %d: encode it, as in base64", i)
		}
		raw, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			return nil, err
		}
		return f.Normalize(raw)
	}
	if f.Type == TypeFloat {
		if v := jsontext.Value(text); v.Kind() != jsontext.KindNumber || !v.IsValid() {
			return nil, mismatch("a finite number", []byte(text))
		}
	}
	return f.Normalize([]byte(text))
}

// Text is the inverse of [Field.Parse]: it returns the stored value raw as a
// person would type it.
func (f Field) Text(raw []byte) string {
	if f.Type == TypeJSON { // there, quotes make the difference between "1" and 1
		return string(raw)
	}
	if text, err := jsontext.AppendUnquote(nil, raw); err == nil {
		return string(text)
	}
	return string(raw)
}

// Compare orders two stored values of f's type: negative if a is before b.
// Instants compare as instants. It is an error if f's type has no order.
func (f Field) Compare(a, b []byte) (int, error) {
	switch f.Type {
	case TypeInt:
		return compare(Int, a, b, cmp.Compare[int64])
	case TypeUint:
		return compare(Uint, a, b, cmp.Compare[uint64])
	case TypeFloat:
		return compare(Float, a, b, cmp.Compare[float64])
	case TypeDecimal:
		return compare(Decimal, a, b, decimal.Decimal.Cmp)
	case TypeTime:
		return compare(Time, a, b, time.Time.Compare)
	case TypeDuration:
		return compare(Duration, a, b, cmp.Compare[time.Duration])
	}
	return 0, fmt.Errorf("values of type %s have no order: declare the field of kind value", f.Type)
}

func compare[T any](c Codec[T], a, b []byte, order func(T, T) int) (int, error) {
	x, err := c.Decode(a)
	if err != nil {
		return 0, err
	}
	y, err := c.Decode(b)
	if err != nil {
		return 0, err
	}
	return order(x, y), nil
}

// Sum adds two stored values of f's type exactly, or returns [ErrOverflow].
func (f Field) Sum(a, b []byte) ([]byte, error) {
	switch f.Type {
	case TypeInt:
		return sum(Int, a, b, addInt64)
	case TypeUint:
		return sum(Uint, a, b, addUint64)
	case TypeDecimal:
		return sum(Decimal, a, b, addDecimal)
	case TypeDuration:
		return sum(Duration, a, b, addInt64[time.Duration])
	}
	return nil, fmt.Errorf("values of type %s do not sum exactly: declare the field of kind value", f.Type)
}

func sum[T any](c Codec[T], a, b []byte, add func(T, T) (T, error)) ([]byte, error) {
	x, err := c.Decode(a)
	if err != nil {
		return nil, err
	}
	y, err := c.Decode(b)
	if err != nil {
		return nil, err
	}
	z, err := add(x, y)
	if err != nil {
		return nil, err
	}
	return c.Append(nil, z)
}

func addInt64[T ~int64](x, y T) (T, error) {
	z := x + y
	if (x > 0 && y > 0 && z < 0) || (x < 0 && y < 0 && z >= 0) {
		return 0, fmt.Errorf("%w: %v + %v: add less, since a counter cannot be cleared", ErrOverflow, x, y)
	}
	return z, nil
}

func addUint64(x, y uint64) (uint64, error) {
	z, carry := bits.Add64(x, y, 0)
	if carry != 0 {
		return 0, fmt.Errorf("%w: %d + %d: add less, since a counter cannot be cleared", ErrOverflow, x, y)
	}
	return z, nil
}

func addDecimal(x, y decimal.Decimal) (decimal.Decimal, error) {
	z := x.Add(y)
	if boundDecimal(z) != nil {
		return decimal.Decimal{}, fmt.Errorf("%w: %s + %s: add less, since a counter cannot be cleared", ErrOverflow, x, y)
	}
	return z, nil
}

// Zero returns the value that an unset counter of f's type counts from.
func (f Field) Zero() []byte {
	switch f.Type {
	case TypeDecimal:
		return []byte(`"0"`)
	case TypeDuration:
		return []byte(`"0s"`)
	}
	return strconv.AppendInt(nil, 0, 10)
}
