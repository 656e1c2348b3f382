//go:build unix

package statedir

import "golang.org/x/sys/unix"

// A Draft is a patch that is whole and durable, and not set aside before it has
// a name. As long as it is open, [Aside.Free] says so. It must not be used
// concurrently.
type Draft struct {
	draft *draft
	name  string // once it has one
}

// Draft makes a draft of the content raw. The caller closes it.
func (a *Aside) Draft(raw []byte) (*Draft, error) {
	d, err := a.folder.draft("patch", raw)
	if err != nil {
		return nil, err
	}
	if err := d.lock(); err != nil {
		d.close()
		return nil, err
	}
	return &Draft{draft: d}, nil
}

func (d *draft) lock() error {
	if _, err := flock(d.fd, unix.LOCK_EX); err != nil {
		return d.folder.fail("flock", "patch", err)
	}
	return nil
}

// Put gives the draft its name, which must be new: else Put returns
// [fs.ErrExist], and another may be tried. That the name survives power loss,
// [Aside.Sync] sees to.
func (d *Draft) Put(name string) error {
	err := d.draft.publish(name)
	if err == nil {
		d.name = name
	}
	return err
}

// Gone reports whether the draft had a name, and somebody has removed it.
func (d *Draft) Gone() (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.draft.fd, &st); err != nil {
		return false, d.draft.folder.fail("stat", d.name, err)
	}
	return d.name != "" && st.Nlink == 0, nil
}

// Withdraw takes the draft's name away again. It removes nothing else that has
// that name by now.
func (d *Draft) Withdraw() error {
	f := d.draft.folder
	if !f.called(d.draft.fd, d.name) {
		return nil
	}
	if err := unix.Unlinkat(f.fd, d.name, 0); err != nil && err != unix.ENOENT {
		return f.fail("remove", d.name, err)
	}
	return nil
}

// Close ends the draft; what has no name then is gone. Nobody holds its lock
// afterwards, not even a child that is between fork and exec.
func (d *Draft) Close() error {
	unix.Flock(d.draft.fd, unix.LOCK_UN)
	return d.draft.close()
}
