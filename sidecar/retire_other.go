//go:build !linux

package sidecar

import (
	"context"
	"os/exec"
)

// FenceVariable is the environment variable that tells a stop command which of
// its descriptors is the fence.
const FenceVariable = "FREEHOLD_FENCE_FD"

// Retire returns [ErrUnsupported] outside Linux, where nothing tells a process
// from its successor for sure.
func (p *Prepared) Retire(ctx context.Context, o *RetireOptions) (Retirement, error) {
	return Retirement{}, ErrUnsupported
}

// RetireWith returns [ErrUnsupported] outside Linux.
func (p *Prepared) RetireWith(ctx context.Context, stop *exec.Cmd, o *RetireOptions) (Retirement, error) {
	return Retirement{}, ErrUnsupported
}
