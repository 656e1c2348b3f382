package adopt_test

import (
	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar/adopt"
)

func init() {
	adopt.Healthy = statetest.Healthy
	adopt.Damaged = func(dir string, codes ...string) {
		for _, code := range codes {
			statetest.Damaged(dir, doctor.Code(code))
		}
	}
}
