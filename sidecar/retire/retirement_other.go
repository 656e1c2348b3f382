//go:build !linux

package retire

import (
	"context"
	"os/exec"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// Run returns [store.Unsupported] outside Linux, where nothing tells a process
// from its successor for sure.
func (p *Prepared) Run(ctx context.Context, o *Options) (Retirement, error) {
	return Retirement{}, store.Unsupported
}

// RunWith returns [store.Unsupported] outside Linux.
func (p *Prepared) RunWith(ctx context.Context, stop *exec.Cmd, o *Options) (Retirement, error) {
	return Retirement{}, store.Unsupported
}
