package scratch

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Run is the environment variable that names a run of tests. Each process that the
// run starts inherits the variable.
const Run = "FREEHOLD_TEST_RUN"

// remove waits, as a process that is no child of the run, until standard input ends,
// and kills each process that has the variable $0 in its environment. A second look
// finds children forked meanwhile.
const remove = `exec 3<&0
{
	trap '' HUP INT TERM
	while read -r line; do :; done
	for look in 1 2 3 4 5 6 7 8 9; do
		found=$(cd /proc && grep -slzxF -- "$0" [0-9]*/environ)
		[ "$found" ] || break
		kill -KILL $(printf '%s\n' "$found" | sed 's,/environ$,,')
	done
} <&3 3<&- 2>/dev/null &`

// guard is the end of a pipe that the kernel closes when this process ends.
var guard *os.File

// Guard makes every process that this run of tests starts end with the run, also
// if go test kills the run after its time-out: a stopped process, a process in
// another session and a grandchild too. A second call does nothing, also in a
// process that the run started.
func Guard() {
	if os.Getenv(Run) != "" {
		return
	}
	name := rand.Text()
	sh := exec.Command("sh", "-c", remove, Run+"="+name)
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // else a signal of the terminal ends it first
	end, w, err := os.Pipe()
	if err == nil {
		sh.Stdin, guard = end, w
		err = errors.Join(sh.Run(), end.Close())
	}
	if err != nil {
		panic(err)
	}
	os.Setenv(Run, name)
}
