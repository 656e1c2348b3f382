package main

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/reader/explain"
)

var (
	nameStyle  = lipgloss.NewStyle().Bold(true)
	faintStyle = lipgloss.NewStyle().Faint(true)
	badStyle   = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

// A changeLine is a change of a view as a line for a terminal.
type changeLine struct{ explain.Change }

// when returns the time of the change, to the millisecond.
func (n changeLine) when() string {
	if n.At.IsZero() {
		return none
	}
	return display.Instant(n.At)
}

// line returns the change for a terminal.
func (n changeLine) line() string {
	if n.Field == "" {
		return n.ownerLine()
	}
	name, value := n.Field, display.Value(n.Declared, n.Value)
	if n.Key != nil {
		name += " " + display.Key(*n.Key)
	}
	switch {
	case n.Error != "":
		value = badStyle.Render(alarm + display.Escape(display.Line(n.Error)))
	case n.Value == nil:
		value = faintStyle.Render(value)
	}
	return fmt.Sprintf("%s  %s = %s  %s\n", faintStyle.Render(fmt.Sprintf("%-24s", n.when())), nameStyle.Render(name), value, faintStyle.Render(n.source()))
}

// source says whose the field is, who wrote it and in which version, and what
// else there is to say.
func (n changeLine) source() string {
	parts := []string{"(" + n.Owner}
	if n.Written {
		parts[0] += fmt.Sprintf(": %s %d", display.Escape(n.Program), n.PID)
		switch {
		case n.Claim != "":
			parts = append(parts, "claim "+n.Claim)
		case n.Version.IsPending():
			parts = append(parts, "deferred as "+n.Version.Nonce)
		default:
			parts = append(parts, "version "+n.Version.String())
		}
	}
	if n.Open > 0 {
		parts = append(parts, "begun and not done")
	}
	if n.Freshness != "" {
		parts = append(parts, "freshness "+string(n.Freshness))
	}
	return strings.Join(parts, ", ") + ")"
}

func (n changeLine) ownerLine() string {
	if n.Error == "" {
		return fmt.Sprintf("%-24s  owner %s is %s\n", none, nameStyle.Render(n.Owner), string(n.Status))
	}
	return fmt.Sprintf("%-24s  owner %s is %s\n", none, nameStyle.Render(n.Owner), badStyle.Render(alarm+string(n.Status)+": "+display.Escape(display.Line(n.Error))))
}
