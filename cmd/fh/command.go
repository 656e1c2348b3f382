package main

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/console"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/cmd/internal/lease"
	"github.com/freehold-dev/freehold/cmd/internal/selection"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A call is one call of the program.
type call struct {
	console.Console
	console.Place
	console.Writing
}

// place takes the flags about the state and the writer.
func (c *call) place() error {
	for name, option := range map[string]*console.Option{"dir": &c.Dir, "instance": &c.ID} {
		if text, ok := c.Given[name]; ok {
			option.Set(text)
		}
	}
	c.Program = cmp.Or(c.Given["program"], "freehold") // as a sibling of that name
	if text, ok := c.Given["wait"]; ok {
		return c.Wait.Set(text)
	}
	return nil
}

// command returns the name of the command in args, and the other arguments.
func (c *call) command(args []string) (name string, rest []string, err error) {
	i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
	if i < 0 {
		i = len(args)
	}
	l, err := parse([]flag{jsonFlag, helpFlag, {name: "version", switches: true}}, args[:i])
	c.JSON = l.flags["json"] == "true"
	switch {
	case err != nil:
		return "", nil, misused("", err)
	case l.flags["help"] == "true" || i == len(args) && l.flags["version"] != "true":
		return "help", nil, nil
	case i == len(args):
		return "version", nil, nil
	}
	return args[i], args[i+1:], nil
}

// A command is one command of the program.
type command struct {
	flags []flag
	fits  func(name string, l line) error
	work  func(ctx context.Context, c *call, l line) error
}

var (
	jsonFlag = flag{name: "json", switches: true}
	helpFlag = flag{name: "help", short: 'h', switches: true}
	// places say where the state is, and acting how a call writes.
	places = []flag{jsonFlag, helpFlag, {name: "dir"}, {name: "instance"}}
	acting = []flag{{name: "program"}, {name: "wait", check: func(text string) error {
		_, err := time.ParseDuration(text)
		return err
	}}}
)

// commands returns the commands by name.
func commands() map[string]command {
	all := map[string]command{
		"help":    {[]flag{jsonFlag, helpFlag}, between(0, 1, "one command"), showHelp},
		"version": {[]flag{jsonFlag, helpFlag}, between(0, 0, "no operands"), func(_ context.Context, c *call, _ line) error { return c.Version() }},
		"lease":   {slices.Concat(places, acting), fitsLease, holdLease},
		"view":    {slices.Concat(places, []flag{{name: "owner"}, {name: "field"}, {name: "stale", switches: true}, {name: "no-pager", switches: true}}), between(0, 0, "no operands"), view},
	}
	for verb := range verbs.All() {
		all[verb.Name] = of(verb)
	}
	return all
}

// of returns the command of a verb of the table.
func of(verb *verbs.Verb) command {
	flags := slices.Concat(places, []flag{{name: "quiet", short: 'q', switches: true}})
	if !verb.Reads {
		flags = slices.Concat(flags, acting, []flag{{name: "verbose", switches: true}})
	}
	for _, f := range verb.Flags {
		flags = append(slices.Clip(flags), flag{name: f.Name, switches: f.Switch})
	}
	least, most := verb.Operands.Bounds()
	return command{flags, between(least, most, string(verb.Operands)), func(ctx context.Context, c *call, l line) error {
		c.Looks = verb.Reads
		return c.Carry(ctx, c.Verb(verb, l.args, &c.Place, &c.Writing), &c.Writing)
	}}
}

// between returns a check of operands: from least to most of them, which want names.
func between(least, most int, want string) func(string, line) error {
	return func(name string, l line) error {
		if len(l.args) >= least && (most < 0 || len(l.args) <= most) {
			return nil
		}
		return failure.Usage("freehold %s wants %s", name, want)
	}
}

func fitsLease(name string, l line) error {
	if l.dash == 1 {
		return between(2, -1, lease.WantsCommand)(name, l)
	}
	return between(1, 1, lease.WantsOwner)(name, l)
}

func holdLease(ctx context.Context, c *call, l line) error {
	return (&lease.Call{Console: &c.Console, Place: &c.Place, Writing: &c.Writing}).Run(ctx, l.args[0], l.args[1:])
}

// view prints a view as JSON.
func view(ctx context.Context, c *call, l line) (err error) {
	if !c.JSON {
		return store.WithRemedy(failure.Usage("fh prints a view as JSON alone: add --json"), store.By("view"))
	}
	c.Looks = true
	s := &selection.Selection{Words: c.WithRemedies, Stale: l.flags["stale"] == "true"}
	if owner, ok := l.flags["owner"]; ok {
		s.Owner.Set(owner)
	}
	if s.View, err = c.View(ctx); err != nil {
		return err
	}
	return s.Print(&c.Console, l.lists["field"])
}

// helps has the help of each command, as freehold prints it. A test of freehold
// writes it.
//
//go:embed help.txt
var helps string

// help returns the help of a command.
func help(name string) string {
	if name == "help" {
		name = "fh"
	}
	_, text, _ := strings.Cut(helps, "== "+name+" ==\n")
	text, _, _ = strings.Cut(text, "\n== ")
	return text
}

// showHelp prints the help of a command, or the list of commands.
func showHelp(_ context.Context, c *call, l line) error {
	if len(l.args) == 0 {
		return c.Print(help("help"))
	}
	if _, ok := commands()[l.args[0]]; !ok {
		return c.unknown(l.args[0])
	}
	return c.Print(help(l.args[0]))
}
