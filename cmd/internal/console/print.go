package console

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/freehold-dev/freehold/cmd/internal/display"
)

// Print writes data to standard output.
func (c *Console) Print(text string) error {
	c.pause()
	if _, err := fmt.Fprint(c.Stdout, text); err != nil {
		return fmt.Errorf("write the output: %w; choose another output", err)
	}
	return nil
}

// PrintJSON writes v to standard output as one line of JSON. A stored value is
// written as the sidecar has it.
func (c *Console) PrintJSON(v any) error {
	if stored, ok := v.(interface{ Raw() jsontext.Value }); ok {
		return c.Print(string(display.EscapeJSON(stored.Raw())) + "\n")
	}
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	return c.Print(string(display.EscapeJSON(text)) + "\n")
}

// Answer writes an answer as JSON or as text.
func (c *Console) Answer(asJSON any, text string) error {
	if c.JSON {
		return c.PrintJSON(asJSON)
	}
	return c.Print(text)
}

// Report is Answer for the report of a change. A change stays made when its report
// cannot be written: the exit status is about the change.
func (c *Console) Report(asJSON any, text string) {
	if err := c.Answer(asJSON, text); err != nil {
		c.Complain(fmt.Errorf("the command has done its work; %w", err))
	}
}

// Terminal returns the width of the terminal that standard output is, or the one
// that its user wants ($COLUMNS), or false if it is none.
func (c *Console) Terminal() (width int, ok bool) {
	f, ok := c.Stdout.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return 0, false
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width, true
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		width = 80
	}
	return width, true
}

// Plainly returns text for standard output: as it is for a program, and visible
// on a terminal.
func (c *Console) Plainly(text string) string {
	if _, eyes := c.Terminal(); eyes {
		return display.Escape(text)
	}
	return text
}

// A Text is a report for people. None of its lines holds a character that a
// terminal would obey.
type Text struct{ b strings.Builder }

// Line adds one line.
func (t *Text) Line(format string, args ...any) {
	t.b.WriteString(display.Escape(fmt.Sprintf(format, args...)) + "\n")
}

// mostListed bounds a list in a message or a report.
const mostListed = 20

// List adds a line for each of lines, as many as fit a screen.
func (t *Text) List(prefix string, lines []string) {
	for _, line := range lines[:min(len(lines), mostListed)] {
		t.Line("%s%s", prefix, line)
	}
	if more := len(lines) - mostListed; more > 0 {
		t.Line("%s%d more, which --json lists", prefix, more)
	}
}

func (t *Text) String() string { return t.b.String() }
