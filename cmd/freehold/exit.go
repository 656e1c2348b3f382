package main

import (
	"errors"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
)

// exitStatus returns the exit status for the error that a command ended with.
func exitStatus(err error) int {
	exit, known := failure.Status(err)
	if known {
		return exit
	}
	if errors.Is(err, adopt.ErrActive) {
		return failure.ExitBusy
	}
	_, mistakes := errors.AsType[declare.Problems](err)
	_, misfits := errors.AsType[adopt.Misfits](err)
	if mistakes || misfits {
		return failure.ExitUsage
	}
	return exit
}
