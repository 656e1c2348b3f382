package sidecar

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/freehold-dev/freehold/schema"
)

func init() { roles["starve"] = roleStarve }

// roleStarve adds 1 to tool's n as roleCount does, while it uses up the memory
// that it may have, until there is no more.
func roleStarve(args []string) error {
	w, err := Open(context.Background(), args[0], setters(), "tool", nil)
	if err != nil {
		return err
	}
	least, err := dataSize()
	if err != nil {
		return err
	}
	most := unix.Rlimit{Cur: least + 24<<20, Max: least + 24<<20}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &most); err != nil {
		return err
	}
	go func() {
		for kept := [][]byte(nil); ; {
			kept = append(kept, bytes.Repeat([]byte{1}, 16<<10))
		}
	}()
	for {
		os.Stdout.Write([]byte("b"))
		if _, err := w.Update(context.Background(), ops(op("n", schema.VerbAdd, "1"))); err != nil {
			return err
		}
		os.Stdout.Write([]byte("a"))
	}
}

// dataSize returns how many bytes RLIMIT_DATA counts of this process already.
func dataSize() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmData:")
	size, _, _ := strings.Cut(rest, "kB")
	kib, err := strconv.ParseUint(strings.TrimSpace(size), 10, 64)
	return kib << 10, err
}

// fatal is the status of a process that the runtime ends: it cannot allocate
// memory, or faults for want of what it could not.
const fatal = 2

// A writer that dies for want of memory, wherever its commit is, loses nothing
// that it has acknowledged, and the next one goes on.
func TestWriterWithoutMemoryLosesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, setters()); err != nil {
		t.Fatal(err)
	}
	var begun, acknowledged int
	for range 6 {
		cmd := roleProcess(t, "starve", dir)
		cmd.Env = append(cmd.Env, "GOTRACEBACK=none")
		var said, complaint bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &complaint
		err := cmd.Run()
		if dead := (*exec.ExitError)(nil); !errors.As(err, &dead) || dead.ExitCode() != fatal {
			t.Fatalf("the writer did not run out of memory: %v: %s", err, complaint.String())
		}
		begun += strings.Count(said.String(), "b")
		acknowledged += strings.Count(said.String(), "a")
	}
	w := openSetter(t, dir, "tool", nil)
	update(t, w, ops(op("n", schema.VerbAdd, "1")))
	n, err := strconv.Atoi(values(t, w, "n")["n"])
	t.Logf("%d acknowledged, %d begun: %d", acknowledged, begun, n-1)
	if err != nil || n-1 < acknowledged || n-1 > begun {
		t.Errorf("n is %d after %d acknowledged and %d begun and one more: %v", n, acknowledged, begun, err)
	}
	if acknowledged == 0 {
		t.Error("none was acknowledged before the memory was gone")
	}
}
