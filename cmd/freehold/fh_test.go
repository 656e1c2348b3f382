package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A hook may call either program: a wrong command line gets the same answer.
func TestFhRefusesWhatFreeholdRefuses(t *testing.T) {
	fh, dir := buildFh(t), t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("owners.yaml", []byte("state: s\nowners:\n  cost:\n    fields:\n      n: {type: int, kind: counter, doc: N.}\n      note: {type: string, doc: A note.}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	place := func(name string) {
		t.Setenv("FREEHOLD_DIR", filepath.Join(dir, name))
	}
	for _, name := range []string{"freehold", "fh"} {
		place(name)
		must(t, "state", "init", "--owners", "owners.yaml")
	}
	varies := func(r result) result {
		r.Stdout, r.Stderr = varying.ReplaceAllString(r.Stdout, "…"), varying.ReplaceAllString(r.Stderr, "…")
		r.Stderr = strings.ReplaceAll(r.Stderr, filepath.Join(dir, "fh"), filepath.Join(dir, "freehold"))
		return r
	}
	for _, line := range []string{
		"set", "set cost", "set cost note", "set cost =x", "set cost note=a note=b", "set note=x", "set nobody note=x", "set cost other=x", "set cost n=1",
		"set --nope", "set -x", "set -", "set --=x", "set cost note=x --wait", "set cost note=x --wait soon", "set cost note=x --wait=-1s", "set cost note=x --json=perhaps", "set cost note=x --program=",
		"set cost note=x --if-version 7", "set cost note=x --seen", "set cost note=x --seen t", "set cost note=x -jh",
		"add cost n x", "add cost -5 n", "add cost n -5 -x", "add cost n - 5", "add cost n 99999999999999999999", "add cost n 1 2",
		"get", "get nothing", "get n", "get n --default x", "get n --dir=", "get n --dir nowhere", "get n --instance one", "get note --default=late", "get n k m x",
		"claim cost n", "begin cost n --for x", "begin cost n", "done cost n x", "observe nothing", "clear cost n", "delete cost n k", "put cost n k 1", "insert cost n 1",
		"lease", "lease nobody", "lease cost", "lease cost --", "lease cost -- true", "lease cost true", "lease -- cost true", "view --json extra", "view --json --owner nobody", "view --json --field nothing", "view --json --owner=",
		"version extra", "version --json=x", "--json get n", "-x get n",
		"add cost n -5", "add cost n -- 7", "add cost -- n 7", "get n --json", "--json get n", "set cost note= --json", "get note", "clear cost note note",
		"set --help", "get -h", "view --help", "lease --help", "version -h",
	} {
		args := strings.Fields(line)
		place("freehold")
		want := call(t, "", args...)
		place("fh")
		got := callFh(t, fh, args...)
		if diff := cmp.Diff(varies(want), varies(got)); diff != "" {
			t.Errorf("%s (-freehold +fh):\n%s", line, diff)
		}
	}
	for line, want := range map[string]result{
		"explain n": {64, "", "freehold: error: fh has no command \"explain\"\nfreehold: hint: run `fh help` for the commands of fh\n"},
		"view":      {64, "", "freehold: error: fh prints a view as JSON alone: add --json\nfreehold: hint: run `freehold view`\n"},
	} {
		if diff := cmp.Diff(want, callFh(t, fh, strings.Fields(line)...)); diff != "" {
			t.Errorf("fh %s (-want +got):\n%s", line, diff)
		}
	}
}

// callFh runs a command line of the program fh.
func callFh(t *testing.T, fh string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), fh, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
