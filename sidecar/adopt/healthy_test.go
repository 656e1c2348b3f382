package adopt

import "testing"

// Healthy and Damaged are those of package statetest, which imports this one,
// so that only its outer tests can name them. See healthy_outer_test.go.
var (
	// Healthy has the state looked over with the code behind `freehold
	// doctor` when the test ends, and fails it for every finding.
	Healthy func(t testing.TB, dir string)
	// Damaged names the findings that the test causes on purpose.
	Damaged func(dir string, codes ...string)
)
