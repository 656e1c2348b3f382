package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A stage is the directory of one run of the demo, with a state in it. A stage
// keeps the first error, and after that nothing more is run or printed. A stage
// is for one goroutine, except for output.
type stage struct {
	dir   string
	env   []string
	print func(text string) error
	err   error
}

// newStage returns a stage whose scripts find o.Self as the program freehold.
func newStage(dir string, o Options) *stage {
	s := &stage{dir: dir, print: o.Print}
	bin := s.path("bin")
	s.env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"FREEHOLD_DIR="+s.path("state"), "FREEHOLD_SEEN=")
	s.fail(errors.Join(os.Mkdir(bin, 0o700), os.Symlink(o.Self, filepath.Join(bin, "freehold"))))
	return s
}

// furnish looks for the programs that the scripts run, and makes the state.
func (s *stage) furnish(ctx context.Context) {
	for _, name := range []string{"sh", "awk", "cat", "mv", "sleep", "wc"} {
		_, err := exec.LookPath(name)
		s.fail(err)
	}
	s.write("owners.yaml", declaration())
	s.sh(ctx, "freehold state init --dir state --owners owners.yaml")
}

// declaration returns an owners.yaml with an owner for each program.
func declaration() string {
	var b strings.Builder
	b.WriteString(`state: demo
owners:
  reset:
    doc: Clears the context.
    fields: {clears: {type: uint, kind: counter, doc: How often the context was cleared.}}
  meter:
    doc: Measures the context.
    fields: {words: {type: uint, depends_on: [clears], doc: Length of the context., unit: words}}
  daemon:
    doc: Watches the agent.
    mode: exclusive
    fields: {beats: {type: uint, kind: counter, doc: Signs of life.}}
`)
	for _, p := range programs {
		fmt.Fprintf(&b, "  %s:\n    doc: The program %[1]s.\n", p)
		fmt.Fprintf(&b, "    fields: {%s_runs: {type: uint, kind: counter, doc: Runs of %[1]s.}}\n", p)
	}
	return b.String()
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// fail keeps err if err is the first error.
func (s *stage) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *stage) write(name, text string) {
	if s.err == nil {
		s.fail(os.WriteFile(s.path(name), []byte(text), 0o600))
	}
}

// tell prints lines.
func (s *stage) tell(lines ...string) {
	if s.err == nil && s.print != nil {
		s.fail(s.print(strings.Join(lines, "\n") + "\n"))
	}
}

// judge prints the result of Freehold's part of a scene, which fails unless the
// promise was kept.
func (s *stage) judge(kept bool, result string) {
	s.tell(verdict(kept, result))
	if !kept {
		s.fail(fmt.Errorf("%w: %s", ErrBroken, result))
	}
}

// command returns a shell with a script, not yet started. The script has args
// as $1, $2 and so on.
func (s *stage) command(ctx context.Context, script string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, 10*time.Second
	return cmd
}

// output runs a script and returns its output, without blanks around it. An
// error holds the messages of the script.
func (s *stage) output(ctx context.Context, script string, args ...string) (string, error) {
	out, err := s.command(ctx, script, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: %w: %s", script, exit, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// sh runs a script that must end with status 0 and returns its output.
func (s *stage) sh(ctx context.Context, script string, args ...string) string {
	if s.err != nil {
		return ""
	}
	out, err := s.output(ctx, script, args...)
	s.fail(err)
	return out
}

// ask runs a script that may end with any status.
func (s *stage) ask(ctx context.Context, script string, args ...string) (out string, status int) {
	if s.err != nil {
		return "", 0
	}
	out, err := s.output(ctx, script, args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return out, exit.ExitCode()
	}
	s.fail(err)
	return out, 0
}

// number runs a script that prints a number.
func (s *stage) number(ctx context.Context, script string) int { return s.parse(s.sh(ctx, script)) }

func (s *stage) parse(text string) int {
	if s.err != nil {
		return 0
	}
	n, err := strconv.Atoi(text)
	s.fail(err)
	return n
}
