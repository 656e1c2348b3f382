package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/spf13/cobra"
)

func newVersion(c *cli.Call) *cobra.Command {
	return c.Command(&cobra.Command{
		Use:   "version",
		Short: "print the release and the formats it reads and writes",
		Long: `Print the release of Freehold, the Go release that built it, the format number
of the files in a state directory, and the number of the interface between
generated code and library. Releases with equal numbers work together.`,
		Example: "  freehold version --json",
		Args:    cli.Operands(0, 0, "no operands"),
	}, func(context.Context, []string) error {
		return printVersion(c)
	})
}

type versionReport struct {
	Version      string `json:"version"`
	Go           string `json:"go"`
	Platform     string `json:"platform"`
	Format       int    `json:"format"`
	GeneratedAPI int    `json:"generated_api"`
}

func printVersion(c *cli.Call) error {
	v := versionReport{"(devel)", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, store.Format, sidecar.GeneratedAPI1}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	return c.Answer(v, fmt.Sprintf("freehold %s %s %s\nsidecar format %d\ngenerated API %d\n",
		v.Version, v.Go, v.Platform, v.Format, v.GeneratedAPI))
}
