// Package schema holds the declaration of a state: its owners, their fields and
// the verbs that write them, the values of the fields, and the [Manifest], which
// keeps the declaration beside the data. It does no I/O and knows no YAML.
//
// # Values
//
// A value in a file is one of its field's type if it has this form. Other
// values are no damage of the file: the field alone is invalid. Writers store
// the first form that is named, so that equal values have equal bytes.
//
//	bool      true or false
//	int       a JSON integer of 64 bits, as 0|-?[1-9][0-9]*: no -0, 1.0 or 1e3
//	uint      the same from 0 to 2^64-1
//	float     a JSON number that fits a double
//	decimal   a JSON string that spells a JSON number ("12.5"), with at most 40 digits before its point, 40 after it, and an exponent from -40 to 40
//	string    a JSON string of at most 65536 bytes of UTF-8
//	time      a JSON string, RFC 3339 in UTC with up to nine digits of a fraction; read, with any offset from -23:59 to +23:59; of the years 1 to 9999 in UTC, never the first instant of the year 1
//	duration  a JSON string as Go writes them ("1h2m3.5s"), 64 bits of nanoseconds; read, any of at most 64 bytes that Go's time.ParseDuration takes
//	enum      a JSON string, one of the declared values
//	list      a JSON array of at most 16384 elements of the declared type
//	record    a JSON object; of its declared members each is of its type, or is not there; others are a newer declaration's and stay
//	json      any JSON, null too, at most 48 deep
//	set       a JSON array of at most 16384 elements that differ, in order: numbers, instants and durations by size, others by the bytes of their text; read, in any order and more than once
//	map       a JSON object; a key has 1 to 256 bytes without control characters; read, of any text
//
// The counters, maxima and minima of an owner are values of their types; an
// event's value is the time at which it was last done; a once field's that at
// which it was claimed.
//
// # Operations
//
// A pending patch has operations of these kinds, see package sidecar:
//
//	add     the sum, exactly; an unset counter counts from 0. A sum that is no value of the type keeps the whole patch out
//	raise   the operand if the field is unset or the operand larger, else the value there. Instants compare as instants
//	lower   the same with smaller
//	insert  of a set, the element is in it; of a map, the key is there, with {} if it was not
//	remove  of a set, the element is not in it
//	delete  of a map, the key is not there
package schema
