package sidecar

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
