package demo

import (
	"context"
	"os/exec"
	"strings"
)

const (
	compile = `go build ./guard`
	// A module of the two programs, one in the home of reset and one outside.
	furnishModule = `mkdir -p module/owners/demo/reset module/guard && cd module
cp ../owners.yaml owners/demo && printf 'module demo\n\ngo 1.21\n' >go.mod && freehold gen
printf 'package main\n\nimport _ "demo/owners/demo/reset/internal/resetfile"\n\nfunc main() {}\n' >guard/main.go
sed 's/main$/reset/; /^func/d' guard/main.go >owners/demo/reset/reset.go`
	// Nothing is fetched: the compiler refuses before it looks for other modules.
	offline = `cd module; export GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOWORK=off; `
)

// Compile holds the measurements of the last scene: the Go toolchain refuses a
// program that imports the writer of another owner.
type Compile struct {
	// Tried is false where there is no Go toolchain; then nothing is shown.
	Tried bool `json:"tried"`
	// Refusal is the compiler's line, and Own that about the owner's own package.
	Refusal string `json:"refusal,omitzero"`
	Own     string `json:"own,omitzero"`
}

func playCompile(ctx context.Context, s *stage, r *Report) {
	if _, err := exec.LookPath("go"); err != nil || s.err != nil {
		return
	}
	s.sh(ctx, furnishModule)
	if _, status := s.ask(ctx, offline+`go list -e ./guard ./owners/demo/reset`); status != 0 || s.err != nil {
		return // that toolchain cannot do anything here
	}
	c := &r.Compile
	c.Tried, c.Refusal, c.Own = true, s.refusal(ctx, compile), s.refusal(ctx, `go build ./owners/demo/reset`)
	s.tell(title("4  A write that does not compile",
		"   The guard, which is not in the folder of owner reset, imports its writer.")...)
	s.tell(way("Freehold", compile)...)
	refused := c.Refusal != "" && c.Own == ""
	says := "it compiles, or the owner's own package does not"
	if refused {
		file, why, _ := strings.Cut(c.Refusal, ": ")
		says = file + ":\n              " + strings.Replace(why, "package ", "package\n              ", 1)
	}
	s.judge(refused, says)
}

// refusal returns the line in which a build refuses to import a package.
func (s *stage) refusal(ctx context.Context, build string) string {
	out, _ := s.ask(ctx, offline+build+` 2>&1`)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "use of internal package") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
