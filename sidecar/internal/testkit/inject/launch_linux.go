//go:build amd64 || arm64

package inject

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launchVariable turns the test binary into the launcher. Its value names the counted system calls, comma-separated.
const launchVariable = "FREEHOLD_INJECT_LAUNCH"

// probeVariable turns the test binary into the command that Available runs.
const probeVariable = "FREEHOLD_INJECT_PROBE"

// Marks are looked up by the command and never exist; seeing them looked up is all that the test needs.
const (
	beginMark = "/freehold.inject/begin"
	endMark   = "/freehold.inject/end"
)

// hooked tells that TestMain called Main. Without it, starting the test binary as launcher would run all tests once more.
var hooked bool

// Main must be the first call in TestMain. It returns at once, except in the processes that Run starts: there it installs the filter and
// becomes the command, or exits with status 126.
func Main() {
	hooked = true
	if calls := os.Getenv(launchVariable); calls != "" {
		err := launch(strings.Split(calls, ","))
		unix.Write(handover, []byte(err.Error()))
		os.Exit(126)
	}
	if os.Getenv(probeVariable) != "" {
		Begin()
		os.Exit(0)
	}
}

// Begin starts the counting of a plan with Marked set. Without an injector it is a harmless look-up of a file.
func Begin() { syscall.Access(beginMark, 0) }

// End ends the part that Begin started: later calls are neither counted nor interfered with.
func End() { syscall.Access(endMark, 0) }

// handover is the launcher's descriptor of the socket on which the parent waits for the listener, or for a message why there is none.
const handover = 3

// launch installs the filter on this thread and replaces the process by the command; it returns only if that failed. exec leaves only this
// thread, so the filter is on all that follows.
func launch(names []string) error {
	counted, err := chosen(names)
	if err != nil {
		return err
	}
	unix.CloseOnExec(handover)
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, launchVariable+"=") })
	program := filter(slices.Sorted(maps.Keys(counted)))
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	// Killable waits: a signal to a waiting thread, such as Go's own for preemption, would otherwise repeat the call and count it twice.
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	sock := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&sock)))
	if errno != 0 {
		return fmt.Errorf("seccomp user notification (Linux 5.19 or later, not forbidden by the container): %w", errno)
	}
	if err := unix.Sendmsg(handover, nil, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return fmt.Errorf("hand over the listener: %w", err)
	}
	return fmt.Errorf("start %s: %w", os.Args[1], syscall.Exec(os.Args[1], os.Args[1:], env))
}

// filter is the BPF program: the given calls, the marks, and the ends of a process go to the listener, all others run. A call of a foreign
// architecture kills, because it would pass uncounted.
func filter(numbers []uint32) []unix.SockFilter {
	numbers = append(numbers, unix.SYS_FACCESSAT, unix.SYS_EXECVE, unix.SYS_EXIT_GROUP)
	const (
		load        = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jumpEqual   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		jumpAtLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret         = unix.BPF_RET | unix.BPF_K
		x32         = 0x40000000 // x86's third numbering of calls, under the same architecture
		numberAt    = 0          // offsets in struct seccomp_data
		archAt      = 4
	)
	program := []unix.SockFilter{
		{Code: load, K: archAt}, {Code: jumpEqual, K: auditArch, Jt: 1},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: numberAt}, {Code: jumpAtLeast, K: x32, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
	}
	for _, number := range numbers {
		program = append(program,
			unix.SockFilter{Code: jumpEqual, K: number, Jf: 1}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	return append(program, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}
