// Command sessionstart is the agent's SessionStart hook: if the session starts
// because its context was compacted or cleared, that has taken place now.
//
//	sessionstart [-dir STATE] < hook.json
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
	h := hook.Hook{Program: "sessionstart", Events: []string{"SessionStart"}, Do: end}
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}

func end(ctx context.Context, dir string, in hook.Input) error {
	if in.Source != "compact" && in.Source != "clear" {
		return nil // a session that starts or goes on keeps its context
	}
	return reset.End(ctx, dir, in.SessionID, in.Source == "clear", &sidecar.Options{Program: "sessionstart"})
}
