package bench

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// place returns a new directory for one benchmark, which is removed when the
// benchmark ends.
func place(b *testing.B) string {
	b.Helper()
	parent, err := home()
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp(parent, ".freehold-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			b.Error(err)
		}
	})
	return dir
}

// home returns the directory in which the benchmarks make theirs. The system's
// temporary directory may be memory, where a sync costs nothing: it is taken
// only if it lies on the working directory's disk.
func home() (string, error) {
	if dir := os.Getenv("BENCH_DIR"); dir != "" {
		return dir, os.MkdirAll(dir, 0o700)
	}
	here, err := device(".")
	if err != nil {
		return "", err
	}
	if temp, err := device(os.TempDir()); err == nil && temp == here {
		return os.TempDir(), nil
	}
	return os.Getwd()
}

func device(dir string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return 0, fmt.Errorf("stat %s: %w", dir, err)
	}
	return uint64(st.Dev), nil
}

// describe says where a benchmark ran.
func describe(dir string) string {
	system := fileSystem(dir)
	if system == "tmpfs" || system == "ramfs" {
		return "in memory (" + system + "), where nothing is durable and a sync is free"
	}
	return "on " + system
}
