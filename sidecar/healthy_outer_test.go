package sidecar_test

import (
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar"
)

func init() {
	sidecar.Healthy = statetest.Healthy
	sidecar.Damaged = statetest.Damaged
}
