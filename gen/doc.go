// Package gen turns a declaration into Go: a writer package for each owner, a
// view package with a file for each owner, and a test package for the state;
// and into JSON schemas and the ownership matrix. It is pure: a declaration
// goes in and files come out, the same bytes on every machine. What it does not
// do is touch a disk; package [github.com/freehold-dev/freehold/gen/tree] reads
// and writes a module.
package gen
