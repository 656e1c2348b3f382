package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func (f *folder) draft(name string, raw []byte) (*draft, error) { return f.draftStaged(name, raw) }

// publish gives the draft a name, or returns [fs.ErrExist] if there is such a
// file; then another name may be tried.
func (d *draft) publish(name string) error { return d.publishStaged(name) }

func (f *folder) renameNoReplace(from, to string) error {
	err := unix.RenameatxNp(f.fd, from, f.fd, to, unix.RENAME_EXCL)
	if err == unix.ENOTSUP || err == unix.ENOSYS {
		return f.fail("rename", to, fmt.Errorf("%w: this volume cannot rename without replacing (%w), so that two processes could both win a claim: keep the state on another one", ErrUnsupported, err))
	}
	if err != nil {
		return f.fail("rename", to, err)
	}
	return nil
}

// probeCreate says whether createExclusive can keep its promise here.
func (f *folder) probeCreate() error { return f.probeStaged() }
