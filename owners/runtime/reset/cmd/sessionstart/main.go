// Command sessionstart is the agent's SessionStart hook, which ends a reset of the
// context, if the session starts because of one.
//
//	sessionstart [-dir STATE] < hook.json
package main

import (
	"context"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/runtime/reset"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	hook.Hook{Program: "sessionstart", Events: []string{"SessionStart"}, Do: end}.Main()
}

func end(ctx context.Context, dir string, in hook.Input) error {
	if in.Source != "compact" && in.Source != "clear" {
		return nil // a session that starts or goes on keeps its context
	}
	return reset.End(ctx, dir, in.SessionID, in.Source == "clear", &sidecar.Options{Program: "sessionstart"})
}
