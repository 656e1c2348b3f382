// Command precompact is the agent's PreCompact hook, which begins a reset of the
// context. Command sessionstart ends the reset.
//
//	precompact [-dir STATE] < hook.json
package main

import (
	"context"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/runtime/reset"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	hook.Hook{Program: "precompact", Events: []string{"PreCompact"}, Do: begin}.Main()
}

func begin(ctx context.Context, dir string, in hook.Input) error {
	return reset.Begin(ctx, dir, in.SessionID, &sidecar.Options{Program: "precompact"})
}
