// Package sidecarpath reports writing to an owner's file past its writer
//
// A sidecar that another hand has touched is foreign: every commit is refused
// until `freehold accept` or `freehold quarantine` is run. The same goes for the
// files in .freehold, which cannot be repaired by hand:
//
//	err := os.WriteFile(filepath.Join(dir, "cost.json"), text, 0o600) // WRONG
//	err := os.RemoveAll(filepath.Join(dir, ".freehold"))              // WRONG
//	err := exec.Command("sh", "-c", "rm "+dir+"/cost.json").Run()     // WRONG
//
//	err := cost.Record(ctx, dir, log) // RIGHT: a verb of the home of cost
//
// The last element of the path decides: the sidecars are those of the owners that
// some owners.yaml of the module declares. Functions of the same package are
// followed, and so are variables that one assignment decides, and the elements of
// slices and maps that the code spells out; of commands, the common ones, and
// simple scripts of a shell.
//
// Where the code does not tell the path nothing is reported: one of several that a
// variable may hold, one from a struct, also an exec.Cmd, from another package or
// another program, and the variables of a script. Another file of the same name is
// allowed with the reason:
//
//	//freehold:allow sidecarpath this is the report for the web page
package sidecarpath
