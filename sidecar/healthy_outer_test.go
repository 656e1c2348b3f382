package sidecar_test

import (
	"github.com/freehold-dev/freehold/reader/doctor"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/sidecar"
)

func init() {
	sidecar.Healthy = statetest.Healthy
	sidecar.Damaged = func(dir string, codes ...string) {
		for _, code := range codes {
			statetest.Damaged(dir, doctor.Code(code))
		}
	}
}
