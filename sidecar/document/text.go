package document

import "bytes"

// notText names what is not JSON for a reason that a parser would put badly:
// "invalid character 'ï'" helps nobody.
func notText(text []byte) error {
	at := func(offset int, what string) error { return &SyntaxError{int64(offset), what} }
	switch {
	case len(text) > MaxSize:
		return at(MaxSize, "the file is longer than the 1 MiB that a sidecar may have")
	case len(text) == 0:
		return at(0, "the file is empty")
	case bytes.HasPrefix(text, []byte{0xEF, 0xBB, 0xBF}):
		return at(0, "the file begins with a UTF-8 BOM (EF BB BF); save it as UTF-8 without BOM")
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}), bytes.HasPrefix(text, []byte{0xFE, 0xFF}),
		bytes.HasPrefix(text, []byte{'{', 0}), bytes.HasPrefix(text, []byte{0, '{'}):
		return at(0, "the file is UTF-16; save it as UTF-8 without BOM")
	case len(bytes.TrimRight(text, "\x00")) == 0:
		return at(0, "the file holds nothing but NUL bytes, as a file does that lost power before its data was written")
	case len(bytes.TrimSpace(text)) == 0:
		return at(0, "the file holds nothing but white space")
	}
	return nil
}
