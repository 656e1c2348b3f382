package store

import (
	"fmt"
	"os"
	"strconv"
)

// Ancestor reports whether pid is an ancestor of this process. If the line of
// parents cannot be followed, every process counts as one.
func Ancestor(pid int) bool {
	if !ownProc() {
		return true
	}
	for p := os.Getppid(); p > 0; {
		if p == pid {
			return true
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err != nil {
			return true
		}
		fields := statFields(text)
		if len(fields) < 2 {
			return true
		}
		if p, err = strconv.Atoi(string(fields[1])); err != nil {
			return true
		}
	}
	return false
}

// Condition says in words why process pid does not run, or "" if it does or if
// nobody knows. It is for messages.
func Condition(pid int) string { return inWords(runs(pid)) }

func inWords(state string) string {
	switch state {
	case none:
		return "has ended; a process that inherited the descriptor keeps the lock"
	case "T":
		return "is stopped (SIGSTOP; `kill -CONT` lets it go on)"
	case "t":
		return "is stopped by a debugger"
	case "D":
		return "waits for a device"
	case "Z", "X":
		return "has ended"
	}
	return ""
}

// halt returns why a process in this state does not run, unless it will by itself.
func halt(state string) Halt {
	switch state {
	case "T":
		return Stopped
	case "t":
		return Traced
	case none, "Z", "X":
		return Ended
	}
	return Running
}

// none stands for the state of a process that there is not.
const none = "none"

// runs returns the letter by which the kernel names the state of process pid, or
// "" if nobody knows.
func runs(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if os.IsNotExist(err) {
		return none
	}
	if fields := statFields(text); len(fields) > 0 {
		return string(fields[0])
	}
	return ""
}
