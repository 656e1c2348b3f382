//go:build !linux || !(amd64 || arm64)

package inject

import (
	"context"
	"errors"
)

var errPlatform = errors.New("inject: system calls can be intercepted only on Linux, amd64 or arm64")

// Main does nothing here.
func Main() {}

// Begin does nothing here.
func Begin() {}

// End does nothing here.
func End() {}

// Available always fails here.
func Available() error { return errPlatform }

// Run always fails here.
func Run(context.Context, Command, Plan) (Result, error) { return Result{}, errPlatform }
