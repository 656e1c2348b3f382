// Package prune removes ended instances of a state, and the leftovers of killed
// writers. It never removes a file that a process holds, a lock file of a state
// in use, or a foreign file, and it gives the reason for everything it keeps.
//
// Process ids play no part. An instance has ended if all its locks are free,
// and during the removal no other process gets one. Its age follows from the
// newest date in it: of a file, a commit, a claim or a pending patch. A clock
// that was set back thus keeps an instance. One that was set forward removes
// none whose last writer was started more recently than the given age, by the
// monotonic clock since boot.
package prune
