package sidecar

import "fmt"

// A publisher makes a file's next version visible, whole, in one step. Its
// callers hold the file's lock.
type publisher interface {
	// collect removes what writers of the file name left behind when they
	// were killed. Nobody else can be writing: the caller holds the lock.
	collect(name string) error
	// publish replaces the file name by raw. If durable, it returns once
	// the replacement survives power loss. An error means that the file is
	// as it was, unless it wraps ErrIndeterminate.
	publish(name string, raw []byte, durable bool) error
}

// A step of publishing a version is one that can fail.
type step string

const (
	stepLook    step = "look at what is to be replaced"
	stepCreate  step = "create a file beside it"
	stepFill    step = "write, chown and chmod that"
	stepReplace step = "sync, close and rename it"
	stepSync    step = "sync the directory"
)

// outcomes is the table of outcomes: what an error at a step makes of the
// commit. Nil means that nothing has changed, and so does a failure before the
// first step. What has been staged is removed, and where that fails too, or the
// process was killed, the next commit collects it.
var outcomes = map[step]error{
	stepLook:    nil,
	stepCreate:  nil,
	stepFill:    nil,
	stepReplace: nil, // unless the file is the new one all the same, which counts as no error
	stepSync:    ErrIndeterminate,
}

// failed returns the error of a step with what it makes of the commit.
func (s step) failed(err error) error {
	if outcome := outcomes[s]; outcome != nil {
		return fmt.Errorf("%w: the new version is visible and may not survive a crash: %w", outcome, err)
	}
	return err
}
