// Package sidecarpath reports writing to an owner's file past its writer
//
// A sidecar that another hand has touched is foreign: every commit is refused
// until somebody says `freehold accept` or `freehold quarantine`. The same goes
// for whatever is in .freehold, which nobody can repair by hand:
//
//	err := os.WriteFile(filepath.Join(dir, "cost.json"), text, 0o600) // WRONG
//	err := os.RemoveAll(filepath.Join(dir, ".freehold"))              // WRONG
//
//	err := cost.Record(ctx, dir, log) // RIGHT: a verb of the home of cost
//
// It goes by the last element of the path: the sidecars are those of the owners
// that some owners.yaml of the module declares. Functions of the same package
// are followed. Where the path is not told by the code nothing is reported. Another file of the same name is allowed with
// the reason:
//
//	//freehold:allow sidecarpath this is the report for the web page
package sidecarpath
