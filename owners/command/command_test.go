package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/google/go-cmp/cmp"
)

const usage = `usage: greet [flags] NAME
  -dir string
    	state directory; if empty, the nearest one from the working directory upward
  -twice
    	greet again
`

// A failed program prints the error and the remedies. Its exit status tells a
// wrong call from a failure.
func TestFailuresAreSaidAndShowInTheStatus(t *testing.T) {
	t.Setenv("FREEHOLD_DIR", "")
	t.Chdir("/")
	c := command.Command{
		Program: "greet", Operands: []string{"NAME"},
		Flags: func(f *flag.FlagSet) { f.Bool("twice", false, "greet again") },
		Do: func(_ context.Context, _ string, operands []string) error {
			if operands[0] == "you" {
				return nil
			}
			return errors.New("nobody is there: try again")
		},
	}
	for _, tc := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-dir", "state", "you"}, 0, ""},
		{[]string{"-help"}, 0, usage},
		{[]string{"-nope"}, 64, "flag provided but not defined: -nope\n" + usage},
		{nil, 64, usage},
		{[]string{"you", "me"}, 64, usage},
		{[]string{"you"}, 1, "greet: /: not a state directory: nor is a directory above it\ngreet: remedy: name a state directory; or state init\n"},
		{[]string{"-dir", "state", "nobody"}, 1, "greet: nobody is there: try again\n"},
	} {
		var stderr bytes.Buffer
		if status := c.Run(t.Context(), tc.args, &stderr); status != tc.status {
			t.Errorf("%q: status %d, want %d", tc.args, status, tc.status)
		}
		if diff := cmp.Diff(tc.says, stderr.String()); diff != "" {
			t.Errorf("%q says (-want +got):\n%s", tc.args, diff)
		}
	}
}
