//go:build !linux

package scratch

// fit reports that there is no directory in memory that every system has.
func fit(string, Use) bool { return false }

// Run is the environment variable that names a run of tests.
const Run = "FREEHOLD_TEST_RUN"

// Guard does nothing: a system without /proc does not tell which processes a run
// of tests has started.
func Guard() {}
