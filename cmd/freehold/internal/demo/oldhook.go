package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// oldHookVariable makes a process of this program one call of a hook as
// everybody writes them; it names the shared file. It is no command, because
// nobody should use it.
const oldHookVariable = "FREEHOLD_DEMO_OLD_HOOK"

// OldHook reports whether the demo started this process as one call of a hook
// of the old way. If so, it makes the call and returns the exit status.
func OldHook(args []string, stdin io.Reader, stdout, stderr io.Writer) (status int, ok bool) {
	file := os.Getenv(oldHookVariable)
	if file == "" {
		return 0, false
	}
	said, err := oldProgram(file, args, stdin)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1, true
	}
	fmt.Fprint(stdout, said)
	return 0, true
}

// oldProgram makes a call: PROGRAM, and what it is given.
func oldProgram(file string, args []string, stdin io.Reader) (said string, err error) {
	switch {
	case len(args) > 0 && slices.Contains(programNames, args[0]):
		return oldHook(file, args, stdin)
	case len(args) == 2 && args[0] == pretool:
		return oldPretool(file, args[1], stdin)
	case len(args) == 2 && args[0] == bump:
		return oldBump(file, args[1], stdin)
	}
	return "", fmt.Errorf("%s is set: it is for the demo alone, unset it", oldHookVariable)
}

// oldHook makes a call of a program of the first act; stop is given what the
// turn has cost. Like the real programs, only tick goes to work before its
// input has come. It returns the reset stamp if it has set it.
func oldHook(file string, args []string, stdin io.Reader) (stamp string, err error) {
	program, usd := args[0], 0.0
	if len(args) > 1 {
		if usd, err = strconv.ParseFloat(args[1], 64); err != nil {
			return "", err
		}
	}
	if program != tick {
		if _, err := io.ReadAll(stdin); err != nil {
			return "", err
		}
	}
	err = rewrite(file, func(fields map[string]any) {
		now := time.Now().UTC().Format(time.RFC3339Nano)
		add(fields, callsOf(program), 1)
		switch program {
		case sessionstart:
			stamp = now
			fields[fieldReset], fields["context_cleared"] = now, false
		case stop:
			add(fields, fieldTotal, usd)
		case tick:
			fields[fieldDecision] = "stale-entry"
		}
		fields["updated_at"] = now
	})
	return stamp, err
}

// callsOf names the field in which a program of the old way counts its calls.
// It is what makes lost updates countable.
func callsOf(program string) string { return program + "_calls" }

func add(fields map[string]any, name string, n float64) {
	old, _ := fields[name].(float64)
	fields[name] = old + n
}

func fieldsIn(file string) (fields map[string]any, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return fields, json.Unmarshal(text, &fields)
}

// rewrite is what everybody does, and done with care: the file is read whole,
// what is one's own is changed, and the whole is renamed into place from a
// temporary file that no other process has. No reader ever sees a torn file.
func rewrite(file string, change func(fields map[string]any)) error {
	fields, err := fieldsIn(file)
	if err != nil {
		return err
	}
	change(fields)
	text, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), "*.tmp")
	if err != nil {
		return err
	}
	defer temp.Close()
	if _, err := temp.Write(text); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	//freehold:allow readmodifywrite to lose updates is what the demo shows, in a file of its own
	return os.Rename(temp.Name(), file)
}
