//go:build !unix

package sidecar

import "github.com/freehold-dev/freehold/sidecar/store"

// replace publishes nothing on this platform, where no state directory opens.
type replace struct{ dir *store.Store }

func (*replace) collect(string) error               { return store.ErrUnsupported }
func (*replace) publish(string, []byte, bool) error { return store.ErrUnsupported }
