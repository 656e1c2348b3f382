package demo

import (
	"io"
	"os"
	"strconv"
	"time"
)

// latched is the field by which the copies of the hook of the old way want to
// know that one of them has looked things up.
const latched = "pretool_fired"

// lookUp is how long a search takes: an agent's memory is no local file.
const lookUp = 200 * time.Millisecond

// oldPretool is the hook before each tool use. It looks things up at the first
// one of a session, and then says so in the session's file, so that nobody does
// it again. It returns what it found, or nothing if it did not look.
func oldPretool(file, items string, stdin io.Reader) (found string, err error) {
	if _, err := io.ReadAll(stdin); err != nil {
		return "", err
	}
	fields, err := fieldsIn(file)
	if err != nil || fields[latched] != nil {
		return "", err
	}
	time.Sleep(lookUp)
	text, err := os.ReadFile(items)
	if err != nil {
		return "", err
	}
	return string(text), rewrite(file, func(fields map[string]any) { fields[latched] = true })
}

// oldBump counts uses, each with a rewrite of the file, and returns how many.
func oldBump(file, times string, stdin io.Reader) (done string, err error) {
	n, err := strconv.Atoi(times)
	if err != nil {
		return "", err
	}
	if _, err := io.ReadAll(stdin); err != nil {
		return "", err
	}
	for range n {
		if err := rewrite(file, func(fields map[string]any) { add(fields, useCount, 1) }); err != nil {
			return "", err
		}
	}
	return times, nil
}
