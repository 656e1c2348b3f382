package adopt_test

import (
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar/adopt"
)

func init() {
	adopt.Healthy = statetest.Healthy
	adopt.Damaged = statetest.Damaged
}
