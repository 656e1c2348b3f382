package main

import (
	"fmt"
	"os"
	"strconv"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/go-json-experiment/json"
)

// print writes data to standard output.
func (c *cli) print(text string) error {
	if _, err := fmt.Fprint(c.stdout, text); err != nil {
		return fmt.Errorf("write the output: %w; choose another output", err)
	}
	return nil
}

// printJSON writes v to standard output as one line of JSON.
func (c *cli) printJSON(v any) error {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	return c.print(string(visibleJSON(text)) + "\n")
}

// report writes what became of a commit or a retirement. What is done stays
// done when its report cannot be written: the exit status is about that.
func (c *cli) report(asJSON any, text string) error {
	err := error(nil)
	if c.json {
		err = c.printJSON(asJSON)
	} else {
		err = c.print(text)
	}
	if err != nil {
		c.complain(fmt.Errorf("what this command did is done; %w", err))
	}
	return nil
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
		return visible(text)
	}
	return text
}

// styled writes text with colours to a terminal, as many as it has and the
// user wants (NO_COLOR).
func (c *cli) styled(text string) error {
	_, err := lipgloss.Fprint(c.stdout, text)
	return err
}
