package store

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

// HeldBy reports whether the process p took the lock and has it: one of its
// descriptors carries the lock, and the lock is in its name. A child that
// inherited the descriptor carries it too, in its parent's name.
func (l *Lock) HeldBy(p *process.Process) (bool, error) {
	name, err := kernelName(int(l.file.Fd()))
	if err != nil {
		return false, err
	}
	holds, err := carries(p.PID(), name, func(l listed) bool { return l.pid == p.PID() && l.access == "WRITE" })
	if err != nil {
		return false, errors.Join(err, p.There())
	}
	return holds, p.There()
}

// carries reports whether a descriptor of process pid carries an flock on the
// file that the kernel calls name.
func carries(pid int, name string, want func(listed) bool) (bool, error) {
	dir := fmt.Sprintf("/proc/%d/fdinfo/", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		info, err := os.ReadFile(dir + e.Name())
		if err != nil {
			continue // closed meanwhile
		}
		for line := range strings.Lines(string(info)) {
			text, ok := strings.CutPrefix(line, "lock:")
			if !ok {
				continue
			}
			if l, ok := parseLock([]byte(text)); ok && l.kind == "FLOCK" && l.file == name && want(l) {
				return true, nil
			}
		}
	}
	return false, nil
}

// Carriers returns the processes that have a descriptor which carries the
// lock, as far as this process may look. It looks at every process of the
// machine: it is for messages about a lock that outlived its holder.
func (l *Lock) Carriers() []int { return l.carriers(func(listed) bool { return true }) }

func (l *Lock) carriers(want func(listed) bool) []int {
	name, err := kernelName(int(l.file.Fd()))
	if err != nil || !process.OwnProc() {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if ok, _ := carries(pid, name, want); ok {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Heir returns a process that inherited the lock from one that has ended, where
// [Lock.Holder] cannot tell, or 0. In a PID namespace of its own, as in a
// container, the kernel leaves a lock out of its list once the process is gone
// that took it, as if it were free. A descriptor that carries the lock still
// shows it, in the name of process 0.
func (l *Lock) Heir() int {
	if process.InFirstNamespace() {
		return 0
	}
	if heirs := l.carriers(func(l listed) bool { return l.pid == 0 }); len(heirs) > 0 {
		return heirs[0]
	}
	return 0
}
