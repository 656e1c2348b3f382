// Package screen holds the commands view, explain and watch. They print rows and
// explanations from package reader, for people and for programs.
package screen

import (
	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/spf13/cobra"
)

// Commands returns the commands view, explain and watch.
func Commands(c *cli.Call) []*cobra.Command {
	return []*cobra.Command{newView(c), newExplain(c), newWatch(c)}
}
