// Package sidecarpath reports writing to an owner's file past its writer
//
// A sidecar that another hand has touched is foreign: every commit is refused
// until somebody says `freehold accept` or `freehold quarantine`. The same goes
// for whatever is in .freehold, which nobody can repair by hand:
//
//	err := os.WriteFile(filepath.Join(dir, "cost.json"), text, 0o600) // WRONG
//	err := os.RemoveAll(filepath.Join(dir, ".freehold"))              // WRONG
//	err := exec.Command("sh", "-c", "rm "+dir+"/cost.json").Run()     // WRONG
//
//	err := cost.Record(ctx, dir, log) // RIGHT: a verb of the home of cost
//
// It goes by the last element of the path: the sidecars are those of the owners
// that some owners.yaml of the module declares. Functions of the same package
// are followed, and so are variables that one assignment decides, what += adds to
// them, and the elements of slices and maps that the code spells out; of commands,
// those that everybody knows, and simple scripts of a shell.
//
// Where the path is not told by the code nothing is reported: one of several that a
// variable may hold, one that comes from a struct, also an exec.Cmd, from another
// package or another program, and what a script makes of its own variables. Another
// file of the same name is allowed with the reason:
//
//	//freehold:allow sidecarpath this is the report for the web page
package sidecarpath
