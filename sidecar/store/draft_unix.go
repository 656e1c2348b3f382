package store

import (
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"golang.org/x/sys/unix"
)

// A Draft is a patch that is whole and durable, and not deferred before it has
// a name. As long as it is open, [PendingDir.Free] says so. It must not be used
// concurrently.
type Draft struct {
	draft *dir.Draft
	name  string // once it has one
}

// Draft makes a draft of the content raw. The caller closes it.
func (a *PendingDir) Draft(raw []byte) (*Draft, error) {
	d, err := a.folder.Draft("patch", raw)
	if err != nil {
		return nil, err
	}
	if _, err := dir.Flock(d.FD(), unix.LOCK_EX); err != nil {
		d.Close()
		return nil, a.folder.Fail("flock", "patch", err)
	}
	return &Draft{draft: d}, nil
}

// Put gives the draft its name, which must be new: else Put returns
// [fs.ErrExist], and another may be tried. That the name survives power loss,
// [PendingDir.Sync] sees to.
func (d *Draft) Put(name string) error {
	err := d.draft.Publish(name)
	if err == nil {
		d.name = name
	}
	return err
}

// Withdraw takes the draft's name away again. It returns false if that is not
// the draft's any more, since somebody has removed it; then it removes nothing.
func (d *Draft) Withdraw() (bool, error) {
	f := d.draft.Dir()
	switch mine, err := f.Bears(d.draft.FD(), d.name); {
	case err != nil: // to call it gone would be to call it folded
		return false, f.Fail("look at", d.name, err)
	case !mine:
		return false, nil
	}
	if err := unix.Unlinkat(f.FD(), d.name, 0); err != nil {
		return false, f.Fail("remove", d.name, err)
	}
	return true, nil
}

// Close ends the draft; what has no name then is gone. Nobody holds its lock
// afterwards, not even a child that is between fork and exec.
func (d *Draft) Close() error {
	unix.Flock(d.draft.FD(), unix.LOCK_UN)
	return d.draft.Close()
}
