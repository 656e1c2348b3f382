// Package generated knows Freehold's library and generated code when it sees
// their types. It goes by shape and place and needs no declaration, so that
// checks work on one package at a time; code that a person wrote in the same
// shape at the same place counts as generated.
package generated
