// Package prune removes what ended for good: the instances of a state that
// nobody has written for a while and no process has open, and what killed
// writers left in the states that live on. It never removes what a process
// holds, a lock file of a state that lives on, or a file that is not
// Freehold's, and it says of everything that it kept why.
//
// Nothing here goes by a process id. An instance is ended if all its locks are
// to be had, and while it is removed nobody else gets one. How old it is, the
// newest date in it says, of a file, a commit, a claim or a pending patch; so a
// clock that was set back keeps an instance, and one that was set forward removes
// none whose last writer or claimant was started after the boot less than that age
// ago, by a clock that nobody sets.
package prune
