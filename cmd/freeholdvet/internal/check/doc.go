// Package check is what the checks of freeholdvet have in common: a check's
// documentation is its package's doc.go, and a finding that is right where it
// stands can be allowed there, with a reason. It knows nothing of what any
// check looks for.
//
// # Allowing
//
// A finding is allowed by a comment at the end of its line, or on lines of its
// own above it, that names the check and says why:
//
//	//freehold:allow readmodifywrite only this program's installer runs, once
//	err = os.WriteFile(path, text, 0o600)
//
// An allowance without a reason, for a check that does not exist, or where
// there is nothing to allow any more is a finding itself.
package check
