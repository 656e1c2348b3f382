package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A page is one page of the manual, in the language of man.
type page struct {
	strings.Builder
	name    string // without its section
	section int
}

// newPage begins a page. It names no version and no date, so that equal commands
// have equal pages.
func newPage(name string, section int, short string) *page {
	p := &page{name: name, section: section}
	fmt.Fprintf(p, ".TH %s %d \"\" \"Freehold\" \"Freehold\"\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), section, roff(name), roff(short))
	return p
}

// file returns the path below a directory of manual pages.
func (p *page) file() string { return fmt.Sprintf("man%d/%s.%d", p.section, p.name, p.section) }

// roff escapes text for a line of its own.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", "\\(ga", `^`, `\(ha`, `~`, `\(ti`, `…`, `...`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// body adds text: indented lines stand as they are, the others are paragraphs.
func (p *page) body(text string) {
	asIs := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case line == "" && !asIs:
			p.WriteString(".PP\n")
			continue
		case indented && !asIs:
			p.WriteString(".EX\n")
		case !indented && asIs && line != "":
			p.WriteString(".EE\n.PP\n")
		}
		asIs = indented || asIs && line == ""
		p.WriteString(roff(line) + "\n")
	}
	if asIs {
		p.WriteString(".EE\n")
	}
}

// commandName returns the name of the page of cmd.
func commandName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// commandPage returns the page of one command.
func commandPage(cmd *cobra.Command) *page {
	p := newPage(commandName(cmd), 1, cmd.Short)
	if !cmd.HasParent() {
		p = newPage(cmd.Name(), 1, "several programs share one small state directory")
	}
	fmt.Fprintf(p, ".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", roff(cmd.UseLine()))
	p.body(cmd.Long)
	see := []string{"freehold-exit-status(7)"}
	if cmd.HasParent() {
		see = append(see, commandName(cmd.Parent())+"(1)")
	} else {
		for _, topic := range Topics() {
			see = append(see, topic.reference())
		}
		see = see[1:] // the topics have it
	}
	if cmd.HasAvailableSubCommands() {
		p.WriteString(".SH COMMANDS\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(p, ".TP\n.BR %s (1)\n%s\n", roff(commandName(sub)), roff(sub.Short))
			}
		}
	}
	p.flags("OPTIONS", cmd.NonInheritedFlags())
	p.flags("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.HasExample() {
		p.WriteString(".SH EXAMPLES\n")
		p.body(cmd.Example)
	}
	p.WriteString(".SH SEE ALSO\n" + roff(strings.Join(see, ", ")) + "\n")
	return p
}

// flags adds a section with the flags, if there are any.
func (p *page) flags(title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p.WriteString(".SH " + title + "\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(p, ".TP\n\\fB%s\\fR", roff(name))
		if value != "" {
			fmt.Fprintf(p, " \\fI%s\\fR", roff(value))
		}
		p.WriteString("\n" + roff(usage) + "\n")
	})
}

// reference returns the name of the topic's page with its section.
func (t Topic) reference() string { return fmt.Sprintf("freehold-%s(%d)", t.Name, t.section) }

// page returns the page of the topic.
func (t Topic) page() *page {
	p := newPage("freehold-"+t.Name, t.section, t.Short)
	p.WriteString(".SH DESCRIPTION\n")
	p.body(t.Text())
	p.WriteString(".SH SEE ALSO\n" + roff("freehold(1)") + "\n")
	return p
}

// pages returns the manual: a page for each command below root and for each topic.
func pages(root *cobra.Command) []*page {
	var all []*page
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		all = append(all, commandPage(cmd))
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				walk(sub)
			}
		}
	}
	walk(root)
	for _, topic := range Topics() {
		all = append(all, topic.page())
	}
	return append(all, hooksPage())
}

// hooksPage returns the page of fh: its commands are those of freehold.
func hooksPage() *page {
	p := newPage("fh", 1, "the part of freehold for hooks and scripts")
	p.WriteString(".SH SYNOPSIS\n.B fh COMMAND\n.SH DESCRIPTION\n")
	p.body(`fh is small, so that it starts at once. Its commands, flags, answers and exit statuses are
those of freehold, and each has a page of that name: freehold-add(1) is that of fh add.
"fh --help" lists its commands, and "fh COMMAND --help" prints the help of one.
`)
	p.WriteString(".SH SEE ALSO\n" + roff("freehold(1), freehold-exit-status(7)") + "\n")
	return p
}
