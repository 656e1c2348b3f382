package leak_test

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/freehold-dev/freehold/gen/leak"
	"github.com/freehold-dev/freehold/schema/errorstest"
)

var said = errorstest.Golden{Update: flag.Bool("update", false, "write the golden files anew")}

// TestErrorsSayWhatToDo provokes the error of the package. The texts of
// leaks are in the table of the leaks.
func TestErrorsSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	_, err := leak.Load(t.Context(), filepath.Join(dir, "absent"), "example.com/corner", isWriter)
	said.Same(t, "load from a folder that is not there", err, dir, "DIR")
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
