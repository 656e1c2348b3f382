package reader

import (
	"fmt"
	"os"
	"os/exec"
)

// roleVar names the part that a re-executed test binary plays.
const roleVar = "FREEHOLD_TEST_ROLE"

// roles are the programs that tests run as processes of their own.
var roles = map[string]func(args []string) error{}

// Role makes play a role. It is called before any test.
func Role(name string, play func(args []string) error) string {
	roles[name] = play
	return name
}

// Process returns the command of a role.
func Process(role string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// play plays the role of this process and ends it, if it has one.
func play() {
	role := os.Getenv(roleVar)
	if role == "" {
		return
	}
	if err := roles[role](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
