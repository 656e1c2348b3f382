// Package tree puts generated files into a module: it finds the module around
// an owners.yaml, plans what package gen would change there, type-checks it
// and carries it out. It writes and removes generated files and nothing else:
// what Freehold did not generate is named and left alone.
package tree
