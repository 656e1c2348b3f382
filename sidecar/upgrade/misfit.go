package upgrade

import (
	"fmt"
	"strings"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json/jsontext"
)

// A Misfit is a stored value that the changed declaration cannot hold.
type Misfit struct {
	// Owner of the sidecar with the value, and the file's absolute path.
	Owner string
	File  string
	// Pointer to the value in that file.
	Pointer jsontext.Pointer
	// Value as it is stored.
	Value jsontext.Value
	// Why the value does not fit.
	Why string
}

// Misfits are all misfits of a state, by owner. As an error the list is never
// empty, and nothing was changed.
type Misfits []Misfit

// Error returns one line for each of the first 20 misfits.
func (m Misfits) Error() string {
	const most = 20
	var lines []string
	for i, misfit := range m {
		if i == most {
			lines = append(lines, fmt.Sprintf("%d more", len(m)-most))
			break
		}
		lines = append(lines, fmt.Sprintf("%s: %s is %.80s: %s", misfit.File, misfit.Pointer, misfit.Value, misfit.Why))
	}
	return strings.Join(lines, "\n")
}

func (m Misfits) withRemedy() error {
	return store.WithRemedy(m, store.Remedy{Note: "correct these values, or declare fields that hold them"})
}

// Unwrap returns [sidecar.ErrValue].
func (m Misfits) Unwrap() error { return sidecar.ErrValue }
