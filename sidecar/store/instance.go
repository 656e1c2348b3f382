package store

// gatherName is the file in the .freehold of a directory that holds instances.
const gatherName = "instances.json"

// A Gathering is what the directory of a state with instances says of itself.
// It stands in .freehold/instances.json: there is no manifest beside it, so
// that nobody takes the directory for one state.
type Gathering struct {
	Format int    `json:"format"`
	State  string `json:"state"`
	By     string `json:"by"` // what there is an instance for each of
}

// An Instance is a directory that has the name of an instance.
type Instance struct {
	// Name of the directory.
	Name string
	// ID of the instance, by its manifest.
	ID string
	// Err says why it cannot be used; then ID is empty.
	Err error
}
