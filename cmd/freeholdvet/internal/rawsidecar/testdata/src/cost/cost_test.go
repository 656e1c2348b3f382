package cost

import (
	"testing"

	"github.com/freehold-dev/freehold/sidecar"
)

// A test may do as it likes to its own state.
func TestRaw(t *testing.T) {
	sidecar.Open(t.Context(), t.TempDir(), "cost", nil)
}
