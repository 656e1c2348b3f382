package store

import "time"

// A Survey says what is in a state directory.
type Survey struct {
	// Newest is when a file in it was last written, by its file system.
	Newest time.Time
	// Foreign are the files that are none of Freehold's, by their paths
	// relative to the directory, sorted.
	Foreign []string
}

// A Litter is a file that a killed writer left in a state.
type Litter struct {
	Name string // relative to the state directory
	// Busy says that a process holds what the writer held, so that the file
	// may be its own.
	Busy bool
}
