package store

// A Holder is the process that has a lock for itself, as far as the kernel tells.
type Holder struct {
	// PID is 0 if nobody has it, or somebody who cannot be seen from here.
	PID int
	// Halt says why the process does not run, if it does not, and Condition
	// says so in words, as [Condition] does.
	Halt      Halt
	Condition string
	// Carriers are the processes that keep the lock of one that has ended,
	// since they inherited its descriptor.
	Carriers []int
}

// A Halt is why a process does not run and will not by itself.
type Halt int

// The reasons. Who waits for a device counts as running: each commit does.
const (
	Running Halt = iota
	Stopped      // by SIGSTOP, SIGTSTP or the like; SIGCONT lets it go on
	Traced       // by a debugger
	Ended        // it is no more
)
