package schema

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// A Codec translates values of one type between Go and the JSON of a sidecar.
// Each type has exactly one JSON form, so equal values have equal bytes. Codecs
// are safe for concurrent use.
type Codec[T any] struct {
	append func(dst []byte, v T) ([]byte, error)
	decode func(raw []byte) (T, error)
}

// Append appends v's JSON to dst, or returns an error if v may not be stored.
func (c Codec[T]) Append(dst []byte, v T) ([]byte, error) { return c.append(dst, v) }

// Decode reads JSON that Append could have written, or another spelling of the
// same value. Decode never rounds.
func (c Codec[T]) Decode(raw []byte) (T, error) { return c.decode(raw) }

// The codecs of the declared types; see the package comment for the forms.
// [EnumOf], [ListOf] and [RecordOf] make those of other types.
var (
	Bool     = Codec[bool]{appendBool, decodeBool}
	Int      = Codec[int64]{appendInt, decodeInt}
	Uint     = Codec[uint64]{appendUint, decodeUint}
	Float    = Codec[float64]{appendFloat, decodeFloat}
	Decimal  = Codec[decimal.Decimal]{appendDecimal, decodeDecimal}
	String   = Codec[string]{appendString, decodeString}
	Time     = Codec[time.Time]{appendTime, decodeTime}
	Duration = Codec[time.Duration]{appendDuration, decodeDuration}
	JSON     = Codec[jsontext.Value]{appendJSON, decodeJSON}
)

const (
	// MaxString is the most bytes that a string may have.
	MaxString = 64 << 10
	// MaxDecimalDigits is the most digits that a decimal may have on either
	// side of its point. The bound keeps "1e999999999", ten bytes, from
	// becoming a gigabyte.
	MaxDecimalDigits = 40
)

func appendBool(dst []byte, v bool) ([]byte, error) { return strconv.AppendBool(dst, v), nil }

func decodeBool(raw []byte) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, mismatch("true or false", raw)
}

func appendInt(dst []byte, v int64) ([]byte, error) { return strconv.AppendInt(dst, v, 10), nil }

func decodeInt(raw []byte) (int64, error) {
	if !integer(raw) {
		return 0, mismatch("an integer, digits only", raw)
	}
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, mismatch("an integer from -9223372036854775808 to 9223372036854775807", raw)
	}
	return v, nil
}

func appendUint(dst []byte, v uint64) ([]byte, error) { return strconv.AppendUint(dst, v, 10), nil }

func decodeUint(raw []byte) (uint64, error) {
	if !integer(raw) {
		return 0, mismatch("an integer, digits only", raw)
	}
	v, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return 0, mismatch("an integer from 0 to 18446744073709551615", raw)
	}
	return v, nil
}

// integer reports whether raw is a JSON integer in its one canonical
// spelling: "1.0", "1e3" and "-0" are numbers too, but a program that reads
// them as integers has to guess.
func integer(raw []byte) bool {
	unsigned := bytes.TrimPrefix(raw, []byte("-"))
	if len(unsigned) == 0 || (unsigned[0] == '0' && len(raw) > 1) {
		return false
	}
	for _, c := range unsigned {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func appendFloat(dst []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("%v is not a finite number: leave it unset instead", v)
	}
	return jsontext.AppendFloat(dst, v, 64), nil
}

func decodeFloat(raw []byte) (float64, error) {
	if jsontext.Value(raw).Kind() != jsontext.KindNumber {
		return 0, mismatch("a number", raw)
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, mismatch("a number that fits a double", raw)
	}
	return v, nil
}

func appendDecimal(dst []byte, v decimal.Decimal) ([]byte, error) {
	if err := boundDecimal(v); err != nil {
		return nil, err
	}
	return append(append(append(dst, '"'), v.String()...), '"'), nil
}

func decodeDecimal(raw []byte) (decimal.Decimal, error) {
	text, err := unquote(raw, 4*MaxDecimalDigits)
	if err != nil {
		return decimal.Decimal{}, mismatch(`a decimal in quotes, "12.5"`, raw)
	}
	v, err := decimal.NewFromString(text)
	if err != nil || !decimalText(text) {
		return decimal.Decimal{}, mismatch(`a decimal in quotes, "12.5"`, raw)
	}
	return v, boundDecimal(v)
}

// decimalText reports whether text is a number as JSON spells numbers;
// [decimal.NewFromString] takes more than that.
func decimalText(text string) bool {
	v := jsontext.Value(text)
	return v.Kind() == jsontext.KindNumber && v.IsValid()
}

// boundDecimal refuses a decimal with too many digits before anything
// spells it out.
func boundDecimal(v decimal.Decimal) error {
	digits, exponent := v.NumDigits(), int(v.Exponent())
	if v.IsZero() {
		digits = 0
	}
	if digits+exponent > MaxDecimalDigits || -exponent > MaxDecimalDigits || exponent > MaxDecimalDigits {
		return fmt.Errorf("a decimal may have at most %d digits on each side of its point: round it", MaxDecimalDigits)
	}
	return nil
}

func appendString(dst []byte, v string) ([]byte, error) {
	if len(v) > MaxString {
		return nil, fmt.Errorf("a string of %d bytes is longer than the %d allowed: store less", len(v), MaxString)
	}
	if i := invalidUTF8(v); i >= 0 {
		return nil, fmt.Errorf("invalid UTF-8 at byte %d: encode it, as in base64", i)
	}
	return jsontext.AppendQuote(dst, v)
}

func decodeString(raw []byte) (string, error) { return unquote(raw, MaxString) }

func appendTime(dst []byte, v time.Time) ([]byte, error) {
	v = v.UTC()
	if v.IsZero() {
		return nil, errors.New("the zero time means unset; clear the field instead")
	}
	if err := inYears(v); err != nil {
		return nil, err
	}
	return append(v.AppendFormat(append(dst, '"'), time.RFC3339Nano), '"'), nil
}

func decodeTime(raw []byte) (time.Time, error) {
	text, err := unquote(raw, 64)
	if err != nil {
		return time.Time{}, mismatch(`an instant such as "2026-08-11T09:12:44.031Z"`, raw)
	}
	v, err := time.Parse(time.RFC3339Nano, text)
	// Parse also takes a comma for the point, an hour of one digit and offsets
	// that no clock has, and cuts off digits below a nanosecond.
	_, fraction, _ := strings.Cut(text, ".")
	if err != nil || strings.Contains(text, ",") || leadingDigits(fraction) > 9 || text[len("2026-08-11T09")] != ':' || !inDay(text) {
		return time.Time{}, mismatch(`an instant such as "2026-08-11T09:12:44.031Z"`, raw)
	}
	if v.IsZero() {
		return time.Time{}, errors.New("the zero time means unset; leave the field out instead")
	}
	v = v.UTC()
	return v, inYears(v)
}

// inYears holds that v, in UTC, has a year that RFC 3339 can write.
func inYears(v time.Time) error {
	if year := v.Year(); year < 1 || year > 9999 {
		return fmt.Errorf("the year %d is outside 1 to 9999: check the clock", year)
	}
	return nil
}

// inDay reports whether the offset from UTC at the end of text, which [time.Parse]
// takes for an instant, is one of RFC 3339: less than a day, in minutes below 60.
func inDay(text string) bool {
	if strings.HasSuffix(text, "Z") {
		return true
	}
	hour, minute, _ := strings.Cut(text[len(text)-len("23:59"):], ":")
	return hour <= "23" && minute <= "59"
}

// leadingDigits counts the digits that s begins with.
func leadingDigits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

func appendDuration(dst []byte, v time.Duration) ([]byte, error) {
	return append(append(append(dst, '"'), v.String()...), '"'), nil
}

func decodeDuration(raw []byte) (time.Duration, error) {
	text, err := unquote(raw, 64)
	if err != nil {
		return 0, mismatch(`a duration such as "1m30s"`, raw)
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		return 0, mismatch(`a duration such as "1m30s"`, raw)
	}
	return v, nil
}

// EnumOf returns the codec of a generated enum type: its String method names
// the value, empty meaning none, and parse is the function that the view
// package declares beside it.
func EnumOf[E fmt.Stringer](parse func(string) (E, error)) Codec[E] {
	encode := func(dst []byte, v E) ([]byte, error) {
		if _, err := parse(v.String()); err != nil {
			return nil, err
		}
		return jsontext.AppendQuote(dst, v.String())
	}
	decode := func(raw []byte) (E, error) {
		text, err := unquote(raw, MaxString)
		if err != nil {
			var zero E
			return zero, err
		}
		return parse(text)
	}
	return Codec[E]{encode, decode}
}

// unquote returns the text of the JSON string raw. A lone surrogate and
// invalid UTF-8 are errors, as they are everywhere in a sidecar.
func unquote(raw []byte, most int) (string, error) {
	if jsontext.Value(raw).Kind() != jsontext.KindString {
		return "", mismatch("a string in quotes", raw)
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", fmt.Errorf("not a valid JSON string: %s: write text in UTF-8 with JSON's escapes", strings.TrimPrefix(err.Error(), "jsontext: "))
	}
	if len(text) > most {
		return "", fmt.Errorf("a string of %d bytes is longer than the %d allowed: store less", len(text), most)
	}
	return string(text), nil
}

// mismatch names the wanted form and the text found, cut to a length that
// fits a line. JSON is shown as it is, so that the text "1" differs from the
// number 1; other text, as people type it, in quotes.
func mismatch(want string, raw []byte) error {
	const most = 40
	text := string(raw)
	if text != strings.TrimSpace(text) || !jsontext.Value(raw).IsValid() {
		text = strconv.Quote(text)
	}
	runes := []rune(text)
	if len(runes) > most {
		return fmt.Errorf("want %s, not %s…", want, graphic(string(runes[:most])))
	}
	return fmt.Errorf("want %s, not %s", want, graphic(text))
}

// graphic returns text with escapes for characters that are not graphic.
func graphic(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

func invalidUTF8(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
