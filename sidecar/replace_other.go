//go:build !unix

package sidecar

import "github.com/freehold-dev/freehold/sidecar/statedir"

// replace publishes nothing on this platform, where no state directory opens.
type replace struct{ dir *statedir.Dir }

func (*replace) collect(string) error               { return statedir.ErrUnsupported }
func (*replace) publish(string, []byte, bool) error { return statedir.ErrUnsupported }
