// Package upgrade has the shapes of the real one, for the checks' tests.
package upgrade

import "context"

func Run(ctx context.Context, dir string) error { return nil }
