package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/leases"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/manual"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/ownersfile"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/screen"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/upkeep"
	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
)

const rootText = `Freehold lets several programs share one small state directory without ever
losing each other's writes: every field has one owner, every owner writes only
its own file, and readers see the union, with the writer of each field.`

const rootExample = `  freehold init owners/runtime           a first owners.yaml in this Go module
  freehold gen                           generate its accessors
  freehold state init --dir ./state      a state directory of that declaration
  export FREEHOLD_DIR=$PWD/state
  freehold view                          all fields, and their writers`

// The groups in which the commands are listed.
const (
	groupDeclare = "declare"
	groupRead    = "read"
	groupWrite   = "write"
	groupLease   = "lease"
	groupRepair  = "repair"
)

// newRoot returns the whole command line.
func newRoot(c *cli.Call) *cobra.Command {
	root := &cobra.Command{
		Use:                   "freehold COMMAND",
		Long:                  rootText,
		Example:               rootExample,
		Args:                  cli.UnknownCommand,
		SilenceErrors:         true,
		SilenceUsage:          true,
		DisableFlagsInUseLine: true,
		CompletionOptions:     cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	version := root.Flags().Bool("version", false, "print the release, as the command version does")
	c.Command(root, func(context.Context, []string) error {
		if *version {
			return c.Version()
		}
		return c.Print(cli.Help(root))
	})
	root.PersistentFlags().BoolVar(&c.JSON, "json", false, "print data as JSON, on one line")
	root.AddGroup(
		&cobra.Group{ID: groupDeclare, Title: "Declare and generate:"},
		&cobra.Group{ID: groupRead, Title: "Read:"},
		&cobra.Group{ID: groupWrite, Title: "Write, one commit per call:"},
		&cobra.Group{ID: groupLease, Title: "Leases of exclusive owners:"},
		&cobra.Group{ID: groupRepair, Title: "State directories and repair:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	root.SetUsageTemplate(strings.Replace(usageText, "TOPICS", topicList(), 1))
	root.SetHelpCommand(newHelp(c, root))
	add(groupDeclare, ownersfile.Commands(c)...)
	add(groupRead, screen.Commands(c)...)
	for verb := range verbs.All() {
		group := groupWrite
		if verb.Reads {
			group = groupRead
		}
		add(group, newVerb(c, verb))
	}
	add(groupLease, leases.Commands(c)...)
	add(groupRepair, upkeep.Commands(c)...)
	root.AddCommand(newDemo(c), newVersion(c), newCompletion(c), manual.New(c))
	return root
}

func newVersion(c *cli.Call) *cobra.Command {
	return c.Command(&cobra.Command{
		Use:     "version",
		Short:   console.VersionShort,
		Long:    console.VersionLong,
		Example: "  freehold version --json",
		Args:    cli.Operands(0, 0, "no operands"),
	}, func(context.Context, []string) error { return c.Version() })
}

// usageText is the template of a command's usage.
const usageText = `usage: {{.UseLine}}
{{- if .HasAvailableSubCommands}}
{{- range $group := .Groups}}

{{.Title}}
{{- range $.Commands}}{{if eq .GroupID $group.ID}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{- end}}
{{- if .Groups}}

Others:
{{- else}}

Commands:
{{- end}}
{{- range .Commands}}{{if and .IsAvailableCommand (eq .GroupID "")}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{- if .Groups}}

Topics, as in "freehold help kinds":TOPICS
{{- end}}
{{- end}}
{{- if .HasExample}}

For example:
{{.Example}}
{{- end}}
{{- if .HasAvailableFlags}}

Flags:
{{.Flags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{- end}}
`

// topicList returns a line for each topic of the command help.
func topicList() string {
	var b strings.Builder
	for _, topic := range manual.Topics() {
		fmt.Fprintf(&b, "\n  %-11s  %s", topic.Name, topic.Short)
	}
	return b.String()
}

// newHelp returns the command that prints the help of another, or a topic.
func newHelp(c *cli.Call, root *cobra.Command) *cobra.Command {
	help := c.Command(&cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "print the help of a command or topic",
		Long: `Print the help of a command, as COMMAND --help does, or one of these topics:
exit-status, kinds, owners.yaml, types.`,
		Example: `  freehold help state init
  freehold help owners.yaml`,
	}, func(_ context.Context, args []string) error {
		for _, topic := range manual.Topics() {
			if len(args) == 1 && args[0] == topic.Name {
				return c.Print(topic.Text())
			}
		}
		cmd, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = cli.UnknownCommand(cmd, rest)
		}
		if err != nil {
			return err
		}
		return c.Print(cli.Help(cmd))
	})
	help.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, topic := range manual.Topics() {
			names = append(names, topic.Name+"\t"+topic.Short)
		}
		cmd, _, err := root.Find(args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) > 0 {
			names = nil
		}
		for _, sub := range cmd.Commands() {
			names = append(names, sub.Name()+"\t"+sub.Short)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return help
}

var negative = regexp.MustCompile(`^-\.?[0-9]`)

// operandsLast moves negative numbers among args behind a "--", so that `add OWNER
// FIELD -5` has a value and no flag: no flag of this program begins with a digit or a
// point. A number before another operand is out of place, and stays to be refused.
func operandsLast(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || slices.Contains(args, "--") {
		return args
	}
	var before, behind []string
	for i, arg := range args {
		value := i > 0 && wantsValue(cmd, args[i-1])
		switch {
		case !value && negative.MatchString(arg):
			behind = append(behind, arg)
		case value || len(behind) == 0 || strings.HasPrefix(arg, "-"):
			before = append(before, arg)
		default:
			return args
		}
	}
	if len(behind) == 0 {
		return args
	}
	return append(append(before, "--"), behind...)
}

// wantsValue reports whether arg is a flag whose value is the next argument.
func wantsValue(cmd *cobra.Command, arg string) bool {
	name, ok := strings.CutPrefix(arg, "--")
	if !ok || strings.Contains(name, "=") {
		return false
	}
	flag := cmd.Flag(name)
	return flag != nil && flag.NoOptDefVal == ""
}
