package main

import (
	"context"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newCompletion(c *cli) *cobra.Command {
	shells := []string{"bash", "fish", "powershell", "zsh"}
	var root func() *cobra.Command
	cmd := c.command(&cobra.Command{
		Use:   "completion SHELL",
		Short: "print a shell's completion script",
		Long: `Print the script that completes commands, flags, owners and fields in a shell:
bash, fish, powershell or zsh. Owners and fields are those of the state
directory that the command would work in.`,
		Example:   "  source <(freehold completion bash)",
		ValidArgs: shells,
		Args:      operands(1, 1, "a SHELL: bash, fish, powershell or zsh"),
	}, func(_ context.Context, args []string) error {
		switch args[0] {
		case "bash":
			return root().GenBashCompletionV2(c.stdout, true)
		case "fish":
			return root().GenFishCompletion(c.stdout, true)
		case "powershell":
			return root().GenPowerShellCompletionWithDesc(c.stdout)
		case "zsh":
			return root().GenZshCompletion(c.stdout)
		}
		return failure.Usage("there is no completion for the shell %q: name one of %v", args[0], shells)
	})
	root = cmd.Root
	return cmd
}

// A completer returns what may stand in the place of the next operand after
// args.
type completer func(d *schema.Declaration, args []string) []string

// completes lets a shell complete a command's operands from the manifest.
func (p *place) completes(cmd *cobra.Command, complete completer) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		d, err := p.declaration()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := complete(d, args)
		if len(names) > 0 && strings.HasSuffix(names[0], "=") {
			return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// declaration returns the declaration in the manifest of the state directory.
func (p *place) declaration() (*schema.Declaration, error) {
	m, err := p.manifest()
	if err != nil {
		return nil, err
	}
	return &m.Declaration, nil
}

// manifest reads the manifest of the state that the command works in.
func (p *place) manifest() (*schema.Manifest, error) {
	dir, err := p.find()
	if err != nil {
		return nil, err
	}
	d, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Manifest()
}
