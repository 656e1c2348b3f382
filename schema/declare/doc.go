// Package declare reads owners.yaml into a [schema.Declaration] and names
// every mistake of a file in one run, each with its line, its column and what
// to do about it. It does not generate code and does not look at the disk:
// text goes in; a declaration, a JSON Schema or edited text comes out.
//
// Every file that Parse accepts, package [github.com/freehold-dev/freehold/gen] can
// generate: names that would collide in Go are mistakes here, so the rules by
// which names become Go live here too.
package declare
