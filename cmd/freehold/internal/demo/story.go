package demo

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
)

// Every figure of the story comes from the report, or from a constant that the
// scene itself uses. No line of the story has more than 80 columns.

// title returns the lines that open a scene.
func title(name string, text ...string) []string {
	return append([]string{"\n" + cli.Strong.Render(name)}, text...)
}

// way returns the lines that show the command of one way.
func way(name, command string) []string {
	var lines []string
	for line := range strings.Lines(command) {
		lines = append(lines, fmt.Sprintf("   %-10s ", name)+cli.Faint.Render(strings.TrimSuffix(line, "\n")))
		name = ""
	}
	return lines
}

// verdict returns the line that shows what a way led to.
func verdict(good bool, text string) string {
	look := cli.Bad
	if good {
		look = cli.Good
	}
	return fmt.Sprintf("   %-10s ", "") + look.Render(text)
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
