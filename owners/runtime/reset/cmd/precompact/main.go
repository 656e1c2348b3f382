// Command precompact is the agent's PreCompact hook: it says that the context is
// about to be compacted. Command sessionstart says when it was.
//
//	precompact [-dir STATE] < hook.json
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/runtime/reset"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	h := hook.Hook{Program: "precompact", Events: []string{"PreCompact"}, Do: begin}
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}

func begin(ctx context.Context, dir string, in hook.Input) error {
	return reset.Begin(ctx, dir, in.SessionID, &sidecar.Options{Program: "precompact"})
}
