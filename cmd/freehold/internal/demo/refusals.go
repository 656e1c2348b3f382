package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A trespass is a program that writes a field of reset's, and what the
// toolchain must say to it.
type trespass struct {
	name  string
	home  string // the owner below whose home it is
	owner string // whose writer package it imports
	line  string // what it does with it
	shown string // the line that is wrong
	want  string // "" if it must compile
}

// foreign writes a field of reset's.
const foreign = "tx.ContextCleared().Set(true)"

// The control shows that it is the trespass that is refused, and nothing else
// about the program: in reset's home the same line is right.
var trespasses = []trespass{
	{
		name: "control", home: "reset", owner: "reset",
		line: foreign,
	},
	{
		name: "field", home: "cost", owner: "cost",
		line:  foreign,
		shown: foreign,
		want:  "tx.ContextCleared undefined (type costfile.Tx has no field or method ContextCleared)",
	},
	{
		name: "import", home: "cost", owner: "reset",
		line:  foreign,
		shown: `import "` + writerOf("reset") + `"`,
		want:  "use of internal package " + writerOf("reset") + " not allowed",
	},
}

// writerOf returns the import path of an owner's writer package.
func writerOf(owner string) string {
	return modulePath + "/" + stateFolder + "/" + owner + "/internal/" + owner + "file"
}

// folder returns where in the module the program would be. It is there only
// for a build that is told so.
func (t trespass) folder() string {
	return stateFolder + "/" + t.home + "/cmd/trespass"
}

// source returns the program.
func (t trespass) source() string {
	return fmt.Sprintf(`// Command trespass is in %[4]s's home.
package main

import (
	"context"
	"os"

	%[2]q
)

func main() {
	ctx := context.Background()
	w, err := %[1]sfile.Open(ctx, os.Args[1], nil)
	if err != nil {
		panic(err)
	}
	defer w.Close()
	w.Update(ctx, func(tx %[1]sfile.Tx) error {
		%[3]s
		return nil
	})
}
`, t.owner, writerOf(t.owner), t.line, t.home)
}

// playRefusals lets the toolchain compile the trespassers.
func playRefusals(ctx context.Context, s *stage) error {
	s.screen.tell(tellRefusals()...)
	for _, t := range trespasses {
		r, err := s.compile(ctx, t)
		if err != nil {
			return err
		}
		if t.want == "" {
			continue
		}
		s.report.Refusals = append(s.report.Refusals, *r)
		s.screen.tell(tellRefusal(r)...)
	}
	return s.screen.err
}

// compile lets the toolchain compile a trespass, of which nothing but the
// overlay knows that it is in the module.
func (s *stage) compile(ctx context.Context, t trespass) (*Refusal, error) {
	overlay, err := s.overlay(t)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(s.dir, "trespass", t.name)
	output, err := s.goBuild(ctx, "-overlay", overlay, "-o", program, "./"+t.folder())
	r := &Refusal{
		Line:    t.shown,
		Command: "go build -overlay " + store.ShellWord(overlay) + " ./" + t.folder(),
		Output:  output,
	}
	exit, refused := errors.AsType[*exec.ExitError](err)
	switch {
	case err != nil && !refused:
		return nil, fmt.Errorf("go build: %w", err)
	case t.want == "" && refused:
		return nil, fmt.Errorf("a program that keeps to the fields of its home does not compile: %w\n%s", exit, output)
	case t.want != "" && !refused:
		return nil, fmt.Errorf("%w: a trespasser compiles: %s", ErrBroken, t.shown)
	case !strings.Contains(output, t.want):
		return nil, fmt.Errorf("%w: a trespasser is refused for another reason than %q:\n%s", ErrBroken, t.want, output)
	}
	return r, nil
}

// overlay writes the program and the file that tells the go command where it
// would be, and returns the path of the latter.
func (s *stage) overlay(t trespass) (string, error) {
	dir := filepath.Join(s.dir, "trespass")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	program := filepath.Join(dir, t.name+".go")
	if err := os.WriteFile(program, []byte(t.source()), 0o600); err != nil {
		return "", err
	}
	place := filepath.Join(s.module.Dir, filepath.FromSlash(t.folder()), "main.go")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{place: program}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, t.name+".json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
