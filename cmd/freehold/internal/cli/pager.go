package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/charmbracelet/x/term"
)

// Page writes text as [Call.Styled] does; on a terminal that has fewer lines,
// through the user's pager, as git does. To leave the pager early is no error. A
// pager that cannot be run makes no difference.
func (c *Call) Page(text string) error {
	text = c.dressed(text)
	pager, set := os.LookupEnv("PAGER")
	if !set {
		pager = "less"
	}
	if pager = strings.TrimSpace(pager); pager == "" || pager == "cat" || !c.longer(text) {
		return c.Print(text)
	}
	cmd := exec.Command("sh", "-c", pager) // it may have arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), c.Stdout, c.Stderr
	cmd.Env = os.Environ()
	for _, setting := range []string{"LESS=FRX", "LV=-c"} {
		if name, _, _ := strings.Cut(setting, "="); os.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, setting)
		}
	}
	if err := cmd.Start(); err != nil {
		return c.Print(text)
	}
	signal.Ignore(os.Interrupt) // Ctrl-C is for the pager
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && (exit.ExitCode() == 126 || exit.ExitCode() == 127) {
		return c.Print(text)
	}
	return nil
}

// longer reports whether standard output is a terminal with fewer lines than text.
func (c *Call) longer(text string) bool {
	f, ok := c.Stdout.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	_, height, err := term.GetSize(f.Fd())
	return err == nil && height > 0 && strings.Count(text, "\n") >= height
}
