package demo

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
)

// Every figure of the story comes from the report, or from a constant that the
// scene itself uses. No line of the story has more than 80 columns.

var (
	boldStyle  = lipgloss.NewStyle().Bold(true)
	quietStyle = lipgloss.NewStyle().Faint(true)
	goodStyle  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	badStyle   = lipgloss.NewStyle().Foreground(lipgloss.Red)
)

func tellOpening() string {
	return boldStyle.Render("Freehold demo: three accidents with state that programs share")
}

func tellEnd(took time.Duration) string {
	return fmt.Sprintf("\nAll of this was measured just now, in %.1f seconds.", took.Seconds())
}

func tellUpdates() []string {
	return title("1  Lost updates", fmt.Sprintf("%d programs count their runs at the same time, %d runs each.", len(programs), runsEach))
}

func tellGuard() []string {
	return title("2  An overtaken measurement",
		fmt.Sprintf("A meter measures a context of %d words. Another program clears the", fullContext),
		"context. Then the meter writes its measurement. May a guard act on that?")
}

func tellRetire() []string {
	return title("3  The wrong process",
		"A frozen daemon is to be ended. It crashes just before, and a supervisor",
		"starts a successor, which is healthy.")
}

func title(name string, text ...string) []string {
	lines := []string{"\n" + boldStyle.Render(name)}
	for _, line := range text {
		lines = append(lines, "   "+line)
	}
	return lines
}

// way returns the lines that show the command of one way.
func way(name, command string) []string {
	var lines []string
	for line := range strings.Lines(command) {
		lines = append(lines, fmt.Sprintf("   %-10s ", name)+quietStyle.Render(strings.TrimSuffix(line, "\n")))
		name = ""
	}
	return lines
}

// verdict returns the line that shows what a way led to.
func verdict(good bool, text string) string {
	style := badStyle
	if good {
		style = goodStyle
	}
	return fmt.Sprintf("   %-10s ", "") + style.Render(text)
}

func (t *Tally) text() string {
	lost := "none lost"
	if t.Lost != 0 {
		lost = fmt.Sprintf("%d LOST", t.Lost)
	}
	return fmt.Sprintf("%d of %d runs acknowledged, %d on record: %s", t.Acknowledged, t.Started, t.Recorded, lost)
}

// text compares the answer with the length of the context at that moment.
func (a Answer) text(now int) string {
	switch {
	case a.Status != 0:
		return fmt.Sprintf("refused, exit status %d", a.Status)
	case a.Words != now:
		return fmt.Sprintf("acts on %d words, and the context has %d: WRONG", a.Words, now)
	}
	return fmt.Sprintf("acts on %d words, and the context has %d", a.Words, now)
}

func (e Ending) text() string {
	text := fmt.Sprintf("meant process %d, exit status %d: ", e.Meant, e.Status)
	switch {
	case e.Before == e.After:
		return text + fmt.Sprintf("successor %d lives", e.After)
	case e.Before == e.Meant:
		return text + fmt.Sprintf("%d ended, %d is next", e.Before, e.After)
	}
	return text + fmt.Sprintf("successor %d was HIT", e.Before)
}
