// Package scratch puts the files of tests into memory, where a sync costs next to
// nothing. It is for Freehold's own tests and promises nothing to others.
//
// A killed process leaves the same in memory and on a disk, and no test can see
// the effects of a loss of power. Whether the disk's file system
// differs in anything, .ci/run finds out: it sets [Variable] to nothing, and
// everything is on the disk.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
)

// Variable is the environment variable that names the directory in memory. If it
// is set and empty, nothing is put into memory; if it is not set, the directory
// is /dev/shm, where there is one with enough room.
const Variable = "FREEHOLD_MEMORY"

const usual = "/dev/shm"

// A Use is the purpose of the files.
type Use struct {
	// Room is how many bytes there must be for them.
	Room int64
	// Programs is whether some of them are run.
	Programs bool
}

// Small is the use of a package's tests that make states, and little else.
var Small = Use{Room: 32 << 20}

// Main is for TestMain: it lets this process, and those that it starts, put their
// temporary files into memory. Those processes end with this one ([Guard]).
func Main(u Use) {
	Guard()
	if dir := Dir(u); dir != "" {
		os.Setenv("TMPDIR", dir)
	}
}

// Dir returns where temporary files of this use belong, for [os.MkdirTemp]: a
// directory in memory, or "", where others go.
func Dir(u Use) string {
	dir, told := os.LookupEnv(Variable)
	if told {
		return dir
	}
	if !fit(usual, u) {
		return ""
	}
	probe, err := os.MkdirTemp(usual, "freehold-test-")
	if err != nil {
		return ""
	}
	os.Remove(probe)
	return usual
}

// Unwitness makes the lock files of the state in dir tell of no version and no
// claim, as those of an older release.
func Unwitness(dir string) error {
	const id = 512 // bytes
	locks, err := filepath.Glob(filepath.Join(dir, ".freehold", "*.lock"))
	for _, lock := range locks {
		err = errors.Join(err, os.Truncate(lock, id))
	}
	return err
}
