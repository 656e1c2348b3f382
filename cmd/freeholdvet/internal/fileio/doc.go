// Package fileio knows which calls read and write files, and what can be told
// of a file's path from the expression that names it: enough to say that two
// expressions name one file, or that one ends in a certain name. It does not
// follow values through memory, and says nothing where it cannot tell.
package fileio
