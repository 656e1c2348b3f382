package statedir

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// createExclusive makes raw the file name, whole, unless there is one: then it returns
// [fs.ErrExist].
func (f *folder) createExclusive(name string, raw []byte) error { return f.createStaged(name, raw) }

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
