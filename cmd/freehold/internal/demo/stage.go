package demo

import (
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
	// stateFolder is the folder of the state that the demo is about.
	stateFolder = "owners/runtime"
)

// packages are the hooks' programs, by their names.
var packages = map[string]string{
	sessionstart: stateFolder + "/reset/cmd/sessionstart",
	stop:         stateFolder + "/cost/cmd/stop",
	tick:         stateFolder + "/watchdog/cmd/tick",
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
	source, err := s.module.Load(filepath.Join(s.module.Dir, stateFolder, tree.Declaration))
	if err != nil {
		return err
	}
	if s.input, err = readInput(filepath.Join(s.module.Dir, stateFolder, "testdata")); err != nil {
		return err
	}
	if err := sidecar.Create(s.state(), source.Declaration); err != nil {
		return err
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
func (s *stage) program(name string) string { return filepath.Join(s.dir, "bin", name) }

// programs puts the hooks' programs and this one into the kept directory.
func (s *stage) programs(ctx context.Context) error {
	args := []string{"-o", filepath.Join(s.dir, "bin") + string(filepath.Separator)}
	for _, name := range programNames {
		args = append(args, "./"+packages[name])
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
