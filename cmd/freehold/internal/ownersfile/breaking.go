package ownersfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/freehold/internal/revision"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/breaking"
	"github.com/freehold-dev/freehold/schema/declare"
)

const breakingText = `Compare each owners.yaml of the module with the one of the same state at REF, and
print the differences that break programs, promises or old files. REF is a branch, a
tag or a commit, of which the commit counts at which HEAD parted from it; or a
directory or a file, as it is.

Each line has the place, the rule, the difference and that which breaks. The rules:

%s
A file owners.breaking.yaml beside an owners.yaml allows findings, each by its
rule and its owner or field, with a reason:

  - {rule: FIELD_MOVED, field: total_usd, reason: "Billing owns all sums since May."}

An exception that allows nothing is ALLOW_STALE, a finding too.

It exits 0 if nothing breaks, also with notices, 1 if something does, and 64 if the
comparison was not possible. With --json it prints an object for each finding.`

func newBreaking(c *cli.Call) *cobra.Command {
	b := &breakage{Call: c}
	cmd := c.Command(&cobra.Command{
		Use:   "breaking --against REF",
		Short: "show the programs and promises that a changed owners.yaml breaks",
		Long:  fmt.Sprintf(breakingText, ruleList()),
		Example: `  freehold breaking --against main
  freehold breaking --against v1.2.0 --format github
  freehold breaking --against ../released --owners owners/runtime/owners.yaml`,
		Args: cli.Operands(0, 0, "no operands, and --against REF"),
	}, func(ctx context.Context, _ []string) error { return b.run(ctx) })
	cmd.Flags().StringVar(&b.against, "against", "", "the former declaration: a branch, tag, commit, directory or file `REF`")
	cmd.Flags().StringVar(&b.format, "format", "text", "the `FORMAT` of the lines: text, or github for annotations")
	b.owners.Add(cmd, "compare the owners.yaml `FILE` alone (default all of this module)")
	b.cmd = cmd
	cli.CompleteFlag(cmd, "format", func() []string { return []string{"text", "github"} })
	return cmd
}

// ruleList returns the rules as the help lists them.
func ruleList() string {
	var b strings.Builder
	group := ""
	width := 0
	for _, rule := range breaking.Rules() {
		if rule.Group != group {
			group = rule.Group
			fmt.Fprintf(&b, "\n  %s:", group)
			width = 3 + len(group)
		}
		if width += 1 + len(rule.ID); width > 84 {
			b.WriteString("\n   ")
			width = 3 + len(rule.ID)
		}
		b.WriteString(" " + rule.ID)
	}
	return strings.TrimPrefix(b.String(), "\n") + "\n"
}

// A breakage is one call of the command.
type breakage struct {
	*cli.Call
	cmd             *cobra.Command
	owners          Flag
	against, format string
	old             *revision.Revision
}

func (b *breakage) run(ctx context.Context) error {
	switch {
	case !b.cmd.Flags().Changed("against"):
		return failure.Usage("name the former declaration with --against REF")
	case b.format != "text" && b.format != "github":
		return failure.Usage("--format %s: the formats are text and github", b.format)
	case b.format == "github" && b.JSON:
		return failure.Usage("--json and --format github exclude each other")
	}
	module, now, err := b.today()
	if err != nil {
		return err
	}
	if b.old, err = revision.Load(ctx, module, b.against, now); err != nil {
		return err
	}
	for _, note := range b.old.Notes {
		b.Say("hint", note)
	}
	found, err := b.compare(module, now)
	if err != nil {
		return err
	}
	return b.print(found, len(now))
}

// today reads the declarations of the module, or the one that the caller names.
func (b *breakage) today() (*tree.Module, []*declare.Source, error) {
	if b.owners.Given() {
		src, err := b.owners.Read()
		if err != nil {
			return nil, nil, err
		}
		module, err := tree.Find(filepath.Dir(src.File))
		return module, []*declare.Source{src}, ofModule(err)
	}
	module, err := tree.Find(".")
	if err != nil {
		return nil, nil, ofModule(err)
	}
	files, err := module.States()
	if err != nil {
		return nil, nil, ofModule(err)
	}
	for i, file := range files {
		files[i] = relative(filepath.Join(module.Dir, filepath.FromSlash(file)))
	}
	jobs, err := load(files)
	var now []*declare.Source
	for _, j := range jobs {
		now = append(now, j.source)
	}
	return module, now, err
}

// relative returns a path as seen from the working directory.
func relative(file string) string {
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, file); err == nil {
			return rel
		}
	}
	return file
}

// compare pairs the states by name, and compares each pair. Two states with the same
// name are told apart by their folders.
func (b *breakage) compare(module *tree.Module, now []*declare.Source) (all []breaking.Finding, err error) {
	olds := slices.Clone(b.old.Sources)
	take := func(fits func(old *declare.Source) bool) *declare.Source {
		i := slices.IndexFunc(olds, fits)
		if i < 0 {
			return nil
		}
		defer func() { olds = slices.Delete(olds, i, i+1) }()
		return olds[i]
	}
	pairs := make([]*declare.Source, len(now))
	for i, src := range now {
		pairs[i] = take(func(old *declare.Source) bool {
			return old.Declaration.State == src.Declaration.State && old.Folder == src.Folder
		})
	}
	for i, src := range now {
		if pairs[i] == nil {
			pairs[i] = take(func(old *declare.Source) bool { return old.Declaration.State == src.Declaration.State })
		}
		var found []breaking.Finding
		if pairs[i] != nil {
			found = breaking.Compare(pairs[i], src)
		}
		if all, err = b.except(all, found, filepath.Dir(src.File)); err != nil {
			return nil, err
		}
	}
	if b.owners.Given() { // the others are not asked about
		if pairs[0] == nil && b.old.Top == "" {
			return nil, failure.Usage("cannot compare: %s declares no state %s", b.against, now[0].Declaration.State)
		}
		return all, nil
	}
	for _, old := range olds {
		found := breaking.Compare(old, nil)
		folder := relative(filepath.Join(module.Dir, filepath.FromSlash(old.Folder)))
		if slices.ContainsFunc(now, func(src *declare.Source) bool { return src.Folder == old.Folder }) { // its exceptions are read
			all = append(all, found...)
		} else if all, err = b.except(all, found, folder); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// except adds those findings that no exception in the folder allows.
func (b *breakage) except(all, found []breaking.Finding, folder string) ([]breaking.Finding, error) {
	file := filepath.Join(folder, breaking.Exceptions)
	text, err := tree.Read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ofModule(err)
	}
	left, err := breaking.Except(found, file, text)
	return append(all, left...), err
}

// print prints the findings, and fails if one of them is no notice.
func (b *breakage) print(found []breaking.Finding, states int) error {
	breaks := false
	for _, f := range found {
		breaks = breaks || !f.Notice
		if f.Upgrade {
			f.Breaks += fmt.Sprintf(", states need %q", "freehold state upgrade")
		}
		err := b.Answer(f, b.line(f))
		if err != nil {
			return err
		}
	}
	switch {
	case breaks:
		return failure.Verdict{Status: failure.ExitNegative}
	case len(found) == 0 && !b.JSON && b.format == "text":
		return b.Print(display.Escape(fmt.Sprintf("nothing breaks: %s as of %s", display.Count(states, "state", "states"), b.old.Name)) + "\n")
	}
	return nil
}

// line returns a finding as a line of the format.
func (b *breakage) line(f breaking.Finding) string {
	if b.format == "text" {
		return display.Escape(f.String()) + "\n"
	}
	level := "error"
	if f.Notice {
		level = "notice"
	}
	file := f.File
	if abs, err := filepath.Abs(file); err == nil && b.old.Top != "" {
		if rel, err := filepath.Rel(b.old.Top, abs); err == nil {
			file = rel // annotations stand at paths from the root of the repository
		}
	}
	text := f.Change + ": " + f.Breaks
	if f.Was != "" {
		text = fmt.Sprintf("%s (was %s): %s", f.Change, f.Was, f.Breaks)
	}
	return fmt.Sprintf("::%s file=%s,line=%d,col=%d,title=%s::%s\n", level, property.Replace(path.Clean(filepath.ToSlash(file))), f.Line, f.Column, f.Rule, message.Replace(text))
}

// The characters that end a message or a property of an annotation.
var (
	message  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
