//go:build unix && !linux && !darwin

package store

import "fmt"

// This system has neither files without a name nor a rename that replaces
// nothing: publish returns [ErrUnsupported].

func (f *folder) draft(name string, raw []byte) (*draft, error) { return f.draftStaged(name, raw) }

// publish gives the draft a name, or returns [fs.ErrExist] if there is such a
// file; then another name may be tried.
func (d *draft) publish(name string) error { return d.publishStaged(name) }

func (f *folder) renameNoReplace(from, to string) error {
	return f.fail("rename", to, fmt.Errorf("%w: this system cannot rename without replacing, so that two processes could both win a claim", ErrUnsupported))
}

// probeCreate says whether createExclusive can keep its promise here.
func (f *folder) probeCreate() error { return f.renameNoReplace("", "") }
