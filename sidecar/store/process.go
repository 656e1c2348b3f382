package store

import "github.com/freehold-dev/freehold/sidecar/internal/process"

// An Identity tells one process from its successor. Its method Judge says
// whether the process lives.
type Identity = process.Identity

// The answers of Judge, beside that the process is alive.
const (
	CannotJudge = process.CannotJudge
	Gone        = process.Gone
)
