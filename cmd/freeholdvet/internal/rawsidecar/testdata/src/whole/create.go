package whole

import (
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func Make(dir string) error {
	if err := sidecar.Create(dir); err != nil { // want `sidecar.Create writes`
		return err
	}
	d, err := store.Open(dir)
	if err != nil {
		return err
	}
	return d.Drop("cost.json") // want `store.Drop writes`
}
