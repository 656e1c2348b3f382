package main

import (
	"context"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/spf13/cobra"
)

func newCompletion(c *cli.Call) *cobra.Command {
	var cmd *cobra.Command
	cmd = c.Command(&cobra.Command{
		Use:   "completion SHELL",
		Short: "print a shell's completion script",
		Long: `Print the script that completes commands, flags, owners and fields in a shell:
bash, fish, powershell or zsh. Owners and fields are those of the state
directory that the command would work in.`,
		Example:   "  source <(freehold completion bash)",
		ValidArgs: []string{"bash", "fish", "powershell", "zsh"},
		Args:      cli.Operands(1, 1, "a SHELL: bash, fish, powershell or zsh"),
	}, func(_ context.Context, args []string) error {
		switch args[0] {
		case "bash":
			return cmd.Root().GenBashCompletionV2(c.Stdout, true)
		case "fish":
			return cmd.Root().GenFishCompletion(c.Stdout, true)
		case "powershell":
			return cmd.Root().GenPowerShellCompletionWithDesc(c.Stdout)
		case "zsh":
			return cmd.Root().GenZshCompletion(c.Stdout)
		}
		return failure.Usage("there is no completion for the shell %q: name one of %v", args[0], cmd.ValidArgs)
	})
	return cmd
}
