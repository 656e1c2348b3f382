package adopt

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/shopspring/decimal"
)

// scalar respells raw for the type, if the meaning stays exactly the same. Else
// it returns raw for the type's own rules to refuse.
func scalar(t schema.Type, raw []byte) ([]byte, error) {
	number := jsontext.Value(raw).Kind() == jsontext.KindNumber
	switch {
	case t == schema.TypeTime:
		return instant(raw)
	case t == schema.TypeDecimal && number:
		return append(append([]byte{'"'}, raw...), '"'), nil
	case (t == schema.TypeInt || t == schema.TypeUint) && number:
		return integer(raw), nil
	case t == schema.TypeFloat && number:
		return raw, exact(raw)
	}
	return raw, nil
}

// bareOffset matches an instant with an offset without a colon, as of strftime's %z.
var bareOffset = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT.*[+-]\d\d)(\d\d)$`)

func instant(raw []byte) ([]byte, error) {
	if len(raw) > 64 {
		return raw, nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return raw, nil
	}
	if parts := bareOffset.FindSubmatch(text); parts != nil {
		return fmt.Appendf(nil, `"%s:%s"`, parts[1], parts[2]), nil
	}
	if _, err := time.Parse("2006-01-02T15:04:05", string(text)); err == nil {
		return nil, fmt.Errorf("%s has no offset from UTC, so its instant is unknown", shown(string(raw)))
	}
	return raw, nil
}

// neverSet reports whether raw is a zero time: of the year 1 or before.
func neverSet(raw []byte) bool {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil || !strings.HasPrefix(string(text), "000") {
		return false
	}
	if raw, err = instant(raw); err != nil {
		return true // local time of that year
	}
	text, _ = jsontext.AppendUnquote(nil, raw)
	t, err := time.Parse(time.RFC3339, string(text))
	return err == nil && t.UTC().Year() <= 1
}

// mostDigits bounds the digits of a number that is examined.
const mostDigits = 128

// integer returns the plain digits of an integer such as 5.0 or 1e3.
func integer(raw []byte) []byte {
	if len(raw) > mostDigits {
		return raw
	}
	d, err := decimal.NewFromString(string(raw))
	if err != nil || d.Exponent() > 20 || d.Exponent() < -mostDigits || !d.IsInteger() {
		return raw
	}
	return []byte(d.BigInt().String())
}

// exact reports an integer that floating point would round.
func exact(raw []byte) error {
	digits, ok := new(big.Int), len(raw) <= 400
	if ok {
		_, ok = digits.SetString(string(raw), 10)
	}
	if !ok {
		return nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return nil // out of range: the type's check reports it
	}
	if rounded, _ := new(big.Float).SetFloat64(f).Int(nil); rounded.Cmp(digits) != 0 {
		return errors.New("a double would round " + string(raw))
	}
	return nil
}
