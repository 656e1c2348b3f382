//go:build unix && !linux && !darwin

package statedir

import "fmt"

// createExclusive returns [ErrUnsupported]: this system has neither files without a name
// nor a rename that replaces nothing.
func (f *folder) createExclusive(name string, raw []byte) error { return f.createStaged(name, raw) }

func (f *folder) renameNoReplace(from, to string) error {
	return f.fail("rename", to, fmt.Errorf("%w: this system cannot rename without replacing, so that two processes could both win a claim", ErrUnsupported))
}

// probeCreate says whether createExclusive can keep its promise here.
func (f *folder) probeCreate() error { return f.renameNoReplace("", "") }
