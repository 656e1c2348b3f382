package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/sidecar"
)

const (
	modulePath = "github.com/freehold-dev/freehold"
	// stateFolder is the folder of the state that the demo is about;
	// sessionFolder and usageFolder are those of the others.
	stateFolder   = "owners/runtime"
	sessionFolder = "owners/session"
	usageFolder   = "owners/usage"
)

// packages are the hooks' programs, by their names.
var packages = map[string]string{
	sessionstart: stateFolder + "/reset/cmd/sessionstart",
	stop:         stateFolder + "/cost/cmd/stop",
	tick:         stateFolder + "/watchdog/cmd/tick",
	pretool:      sessionFolder + "/hook/cmd/pretool",
	bump:         usageFolder + "/tool/cmd/bump",
	"skill":      usageFolder + "/creator/cmd/skill",
}

// A stage is what the acts play on.
type stage struct {
	Options
	screen *screen
	report *Report

	module *tree.Module
	dir    string // everything is in here
	input  *input
}

// setUp finds everything, and makes the kept directory with the programs and a
// fresh state in it. If it fails, it leaves nothing behind.
func setUp(ctx context.Context, o Options) (*stage, error) {
	s := &stage{Options: o, screen: newScreen(o), report: &Report{}}
	if err := s.find(); err != nil {
		return nil, err
	}
	made, err := os.MkdirTemp("", "freehold-demo-")
	if err != nil {
		return nil, err
	}
	if s.dir, err = filepath.Abs(made); err == nil {
		err = s.furnish(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(made))
	}
	s.report.Dir = s.dir
	return s, nil
}

func (s *stage) furnish(ctx context.Context) (err error) {
	if s.input, err = readInput(s.module.Dir); err != nil {
		return err
	}
	for folder, dir := range map[string]string{stateFolder: s.state(), usageFolder: s.usage()} {
		source, err := s.module.Load(filepath.Join(s.module.Dir, folder, tree.Declaration))
		if err != nil {
			return err
		}
		if err := sidecar.Create(dir, source.Declaration); err != nil {
			return err
		}
	}
	s.screen.tell(tellOpening()...)
	return s.programs(ctx)
}

// find finds the module and makes sure that it and the toolchain are those
// that the demo needs.
func (s *stage) find() (err error) {
	const remedy = "run `go run ./cmd/freehold demo` in a clone of " + modulePath
	from := s.From
	if from == "" {
		from = "."
	}
	if s.module, err = tree.Find(from); err != nil {
		return fmt.Errorf("%w: it builds Freehold's own hooks, and %w; %s", ErrElsewhere, err, remedy)
	}
	if s.module.Path != modulePath {
		return fmt.Errorf("%w: it builds Freehold's own hooks, and this is the module %s; %s", ErrElsewhere, s.module.Path, remedy)
	}
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("%w: it needs the Go toolchain (%w); install Go from https://go.dev/dl", ErrElsewhere, err)
	}
	return nil
}

func (s *stage) state() string              { return filepath.Join(s.dir, "state") }
func (s *stage) sessions() string           { return filepath.Join(s.dir, "sessions") }
func (s *stage) usage() string              { return filepath.Join(s.dir, "usage") }
func (s *stage) program(name string) string { return filepath.Join(s.dir, "bin", name) }

// programs puts the hooks' programs and this one into the kept directory.
func (s *stage) programs(ctx context.Context) error {
	// Nobody debugs them: linking takes a third less without the debugger's tables.
	args := []string{"-ldflags=-w", "-o", filepath.Join(s.dir, "bin") + string(filepath.Separator)}
	for _, folder := range packages {
		args = append(args, "./"+folder)
	}
	if out, err := s.goBuild(ctx, args...); err != nil {
		return fmt.Errorf("build the hooks: %w\n%s", err, out)
	}
	self, err := os.ReadFile(s.Self)
	if err != nil {
		return err
	}
	return os.WriteFile(s.program("freehold"), self, 0o700)
}

// run runs a program and returns what it prints.
func (s *stage) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.program(name), args...)
	cmd.WaitDelay = patience
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// goBuild runs go build in the module root and returns all that it said. It
// neither changes go.mod nor asks Git, whatever the user's settings are.
func (s *stage) goBuild(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-buildvcs=false"}, args...)...)
	cmd.Dir = s.module.Dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	// Killed at once, the go command would leave its compilers behind.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}
