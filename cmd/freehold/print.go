package main

import (
	"fmt"
	"os"
	"strconv"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/freehold-dev/freehold/cmd/internal/display"
)

// print writes data to standard output.
func (c *cli) print(text string) error {
	if _, err := fmt.Fprint(c.stdout, text); err != nil {
		return fmt.Errorf("write the output: %w; choose another output", err)
	}
	return nil
}

// printJSON writes v to standard output as one line of JSON. A stored value is
// written as the sidecar has it.
func (c *cli) printJSON(v any) error {
	if stored, ok := v.(interface{ Raw() jsontext.Value }); ok {
		return c.print(string(display.EscapeJSON(stored.Raw())) + "\n")
	}
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	return c.print(string(display.EscapeJSON(text)) + "\n")
}

// answer writes an answer as JSON or as text.
func (c *cli) answer(asJSON any, text string) error {
	if c.json {
		return c.printJSON(asJSON)
	}
	return c.print(text)
}

// report is answer for the report of a change. A change stays made when its report
// cannot be written: the exit status is about the change.
func (c *cli) report(asJSON any, text string) {
	if err := c.answer(asJSON, text); err != nil {
		c.complain(fmt.Errorf("the command has done its work; %w", err))
	}
}

// terminal returns the width of the terminal that standard output is, or the one
// that its user wants ($COLUMNS), or false if it is none.
func (c *cli) terminal() (width int, ok bool) {
	f, ok := c.stdout.(*os.File)
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

// plainly returns text for standard output: as it is for a program, and visible
// on a terminal.
func (c *cli) plainly(text string) string {
	if _, eyes := c.terminal(); eyes {
		return display.Escape(text)
	}
	return text
}

// styled writes text with colours to a terminal, as many as it has and the
// user wants (NO_COLOR).
func (c *cli) styled(text string) error {
	_, err := lipgloss.Fprint(c.stdout, text)
	return err
}
