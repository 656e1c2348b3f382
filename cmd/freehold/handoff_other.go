//go:build !linux

package main

import (
	"context"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// receiveHandoffs returns no requests: outside Linux no lease is handed over.
func receiveHandoffs(string) (<-chan handoffRequest, func(), error) { return nil, func() {}, nil }

func requestHandoff(context.Context, string, sidecar.Holder, store.Identity, time.Duration) error {
	return sidecar.ErrUnsupported
}
