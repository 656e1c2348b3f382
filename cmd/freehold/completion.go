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
		Long: `Print the script that completes commands, flags, owners, fields, values of an enum,
keys of a map, instances and open tokens in a shell, with their descriptions: bash,
fish, powershell or zsh. They are those of the state that the command would work in.
freehold has to be on the PATH.

bash, version 4 or later (macOS has 3.2; take that of Homebrew). The package
bash-completion is not needed; with it, the file is read at the first use. Add to
~/.bashrc, or save as a file:

  source <(freehold completion bash)
  freehold completion bash > ~/.local/share/bash-completion/completions/freehold

zsh: in a directory of $fpath, before compinit runs in ~/.zshrc; or behind compinit:

  freehold completion zsh > "${fpath[1]}/_freehold"
  source <(freehold completion zsh)

fish, and powershell in $PROFILE:

  freehold completion fish > ~/.config/fish/completions/freehold.fish
  freehold completion powershell | Out-String | Invoke-Expression`,
		Example:   "  source <(freehold completion bash)",
		ValidArgs: []string{"bash", "fish", "powershell", "zsh"},
		Args:      cli.Operands(1, 1, "a SHELL: bash, fish, powershell or zsh"),
	}, func(_ context.Context, args []string) error {
		switch args[0] {
		case "bash":
			if err := cmd.Root().GenBashCompletionV2(c.Stdout, true); err != nil {
				return err
			}
			return c.Print(bashAlone)
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

// bashAlone lets the script do without the package bash-completion, of which
// it would call a function: words end at blanks alone, not at the "=" and ":" of $COMP_WORDBREAKS.
const bashAlone = `
if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    __freehold_init_completion()
    {
        COMPREPLY=()
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<<"$line"
        if [[ $line == *[[:space:]] ]]; then
            words+=("")
        fi
        cword=$((${#words[@]} - 1))
        cur=${words[cword]}
        prev=${words[cword > 0 ? cword - 1 : 0]}
    }
fi
`
