package scratch

import (
	"os"
	"testing"
)

func TestWhoeverNamesADirectoryGetsIt(t *testing.T) {
	t.Setenv(Variable, "/some/where")
	if got := Dir(Small); got != "/some/where" {
		t.Errorf("the directory is %q", got)
	}
	t.Setenv(Variable, "")
	t.Setenv("TMPDIR", "/on/the/disk")
	if Main(Small); os.TempDir() != "/on/the/disk" {
		t.Errorf("told to use no memory, tests write to %s", os.TempDir())
	}
}

func TestADirectoryThatDoesNotDoIsNotUsed(t *testing.T) {
	if fit(usual, Use{Room: 1 << 60}) {
		t.Error("there is room for an exabyte")
	}
	if fit("/proc", Use{}) || fit("/nowhere", Use{}) {
		t.Error("what is no directory in memory is used as one")
	}
}
