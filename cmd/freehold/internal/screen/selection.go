package screen

import (
	"fmt"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/display"
	sel "github.com/freehold-dev/freehold/cmd/internal/selection"
	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/spf13/cobra"
)

// A selection is the part of a view that a command prints.
type selection struct {
	*cli.Call
	sel.Selection
}

func newSelection(c *cli.Call) *selection {
	return &selection{c, sel.Selection{Words: c.WithRemedies}}
}

// flags declares --owner.
func (s *selection) flags(p *cli.Place, cmd *cobra.Command) {
	cmd.Flags().Var(&s.Owner, "owner", "only the fields of this `OWNER`")
	cmd.RegisterFlagCompletionFunc("owner", p.Completion(func(t verbs.Typing) []string {
		t.Args = nil
		return verbs.Operands("OWNER").Complete(t)
	}))
}

// heading names the state and the snapshot.
func (s *selection) heading() string {
	return display.Escape(fmt.Sprintf("state %s in %s: %s snapshot %s", s.View.State(), s.View.Dir(), s.View.Consistency(), s.View.ID()))
}
