package reader_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// roleVar names the part that a re-executed test binary plays.
const roleVar = "FREEHOLD_TEST_ROLE"

// roles are the programs that tests run as processes of their own.
var roles = map[string]func(args []string) error{"write": roleWrite}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process returns the command of a role.
func process(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}
