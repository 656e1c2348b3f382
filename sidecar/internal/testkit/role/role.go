// Package role lets tests run parts of themselves as processes of their own: the
// test binary, executed again, plays the role that its environment names. It is
// for Freehold's own tests and promises nothing to others.
package role

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch"
)

// Variable is the environment variable that names the role.
const Variable = "FREEHOLD_TEST_ROLE"

// Roles are the parts that a test binary can play, by name.
type Roles map[string]func(args []string) error

// Main plays the role that this process has, or runs the tests, on files in
// memory if there is any, and ends the process. A role that fails says so on standard error and ends with status 1.
func Main(m *testing.M, roles Roles) {
	name := os.Getenv(Variable)
	if name == "" {
		scratch.Main(scratch.Small)
		os.Exit(m.Run())
	}
	if err := roles[name](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Env returns the environment of a process that plays the role.
func Env(name string) []string { return append(os.Environ(), Variable+"="+name) }

// Process returns the command of a process that plays the role. It ends with the
// test, and the test prints its standard error.
func Process(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = Env(name)
	cmd.Stderr = os.Stderr
	return cmd
}
