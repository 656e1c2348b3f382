package manual

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
)

// New returns the command that writes the manual.
func New(c *cli.Call) *cobra.Command {
	var cmd *cobra.Command
	cmd = c.Command(&cobra.Command{
		Use:   "man DIR",
		Short: "write the manual pages",
		Long: `Write a manual page for each command and each topic of "freehold help" below DIR, in
man1, man5 and man7, where man looks for them if DIR is in its path. Pages that are
there already are replaced.`,
		Example: `  freehold man ~/.local/share/man
  man freehold-view`,
		Args: cli.Operands(1, 1, "a DIR"),
	}, func(_ context.Context, args []string) error {
		var files []string
		for _, p := range pages(cmd.Root()) {
			file := filepath.Join(args[0], filepath.FromSlash(p.file()))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(p.String()), 0o666); err != nil {
				return err
			}
			files = append(files, p.file())
		}
		return c.Answer(report{args[0], files}, fmt.Sprintf("wrote %s below %s\n", display.Count(len(files), "page", "pages"), display.Escape(args[0])))
	})
	return cmd
}

// A report lists the pages, by slash paths relative to Dir.
type report struct {
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
}
