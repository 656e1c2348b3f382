// Command precompact is the agent's PreCompact hook: it stamps the moment at
// which the context is compacted.
//
//	precompact [-dir STATE] < hook.json
package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/runtime/reset"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	h := hook.Hook{Program: "precompact", Events: []string{"PreCompact"}, Do: stamp}
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}

func stamp(ctx context.Context, dir string, in hook.Input) error {
	_, err := reset.Stamp(ctx, dir, time.Now(), false, &sidecar.Options{Program: "precompact"})
	return err
}
