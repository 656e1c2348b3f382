package cli

import (
	"os"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A Look is a meaning that a text has for people. Only the sixteen colours that
// each terminal's user has chosen are in use, and no background.
type Look int

// The looks; Plain text is as the terminal has it.
const (
	Plain Look = iota
	Strong
	Faint
	Good
	Doubt
	Bad
)

// Render returns a text with its look; see [Call.Styled].
func (l Look) Render(text string) string {
	code := [...]string{"", "1", "2", "32", "33", "31"}[l]
	if l == Doubt && light() {
		code = "35" // yellow can hardly be read there
	}
	if text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}

// light reports whether the terminal says that its background is light.
func light() bool {
	colours := strings.Split(os.Getenv("COLORFGBG"), ";")
	background := colours[len(colours)-1]
	return background == "7" || background == "15"
}

// Styled writes text to standard output, with the looks that it can have there and
// its user wants: all; all but colours (NO_COLOR); or none, for a pipe and a terminal
// without any, unless the user wants them there too (CLICOLOR_FORCE).
func (c *Call) Styled(text string) error {
	return c.Print(c.dressed(text))
}

// coloured matches a text with a colour, which Render made.
var coloured = regexp.MustCompile("\x1b\\[3[0-9]m([^\x1b]*)\x1b\\[m")

func (c *Call) dressed(text string) string {
	_, terminal := c.Terminal()
	kind, force := os.Getenv("TERM"), os.Getenv("CLICOLOR_FORCE")
	able := terminal && kind != "" && kind != "dumb"
	plain := os.Getenv("NO_COLOR") != ""
	switch {
	case !plain && force != "" && force != "0":
		return text
	case !able:
		return ansi.Strip(text)
	case plain || os.Getenv("CLICOLOR") == "0":
		return coloured.ReplaceAllString(text, "$1")
	}
	return text
}
