// Command freeholdvet is an analyzer for go vet. It finds ways around the rule
// that every field has one owner, which the toolchain cannot find.
//
//	go get -tool github.com/freehold-dev/freehold/cmd/freeholdvet@latest
//	go vet -vettool=$(go tool -n freeholdvet) ./...
//
// The first line makes it a tool of the module, once. The command also runs by itself, with packages as arguments; `freeholdvet help`
// lists the checks and `freeholdvet help CHECK` explains one. A comment with the
// reason allows a finding where the code is right:
//
//	//freehold:allow readmodifywrite only the installer runs, and only once
//
// Packages are checked one at a time. go vet remembers clean packages until their
// code changes, but the check sidecarpath also reads owners.yaml: after adding an
// owner, run freeholdvet by itself, which remembers nothing.
//
// Under go vet the exit status is go vet's: 1 for findings. By itself freeholdvet
// exits with 0 without findings, with 3 for findings, with 1 if packages cannot be
// loaded and with 64 for wrong arguments.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/boxedhandle"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/check"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/droppedresult"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/handles"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/leak"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/rawsidecar"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/readmodifywrite"
	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/sidecarpath"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/multichecker"
)

var checks = []*analysis.Analyzer{
	boxedhandle.Analyzer,
	droppedresult.Analyzer,
	handles.Analyzer,
	leak.Analyzer,
	rawsidecar.Analyzer,
	readmodifywrite.Analyzer,
	sidecarpath.Analyzer,
}

func main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	flag.Usage = usage
	multichecker.Main(append(slices.Clip(checks), check.Allow(checks))...)
}

// usage is called for -h and for a wrong flag. Package flag would then exit
// with 0 and with 2.
func usage() {
	fmt.Fprintln(os.Stderr, "usage: freeholdvet [flags] packages, or go vet -vettool=$(go tool -n freeholdvet) packages\n`freeholdvet help` lists the checks and the flags")
	if !slices.ContainsFunc(os.Args[1:], func(arg string) bool { return arg == "-h" || arg == "--help" || arg == "-help" }) {
		os.Exit(64)
	}
}
