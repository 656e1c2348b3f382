// Package other uses the library without generated code: the check is silent.
package other

import "github.com/freehold-dev/freehold/sidecar"

func each(v any) {}

func give(tx *sidecar.Tx) { each(tx) }
