//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/freehold-dev/freehold/schema"
	"golang.org/x/sys/unix"
)

// makeClaims makes the directories of claims that m's declaration needs and
// lacks. Like a lock file, none is ever made anew on the fly: what it held
// would be open again. The caller syncs .freehold.
func (d *Store) makeClaims(m *schema.Manifest) error {
	for _, owner := range m.Declaration.OwnerNames() {
		if _, ok := m.Claims[owner]; ok || !m.Declaration.Owners[owner].Claims() {
			continue
		}
		ino, err := d.meta.makeClaims(owner)
		if err != nil {
			return err
		}
		if m.Claims == nil {
			m.Claims = map[string]uint64{}
		}
		m.Claims[owner] = ino
	}
	return nil
}

// makeClaims makes the directory of owner's claims, or takes the one that a
// killed upgrade left or that came back with a copy.
func (f *folder) makeClaims(owner string) (ino uint64, err error) {
	above, _, err := f.makeDir(claimsName)
	if err != nil {
		return 0, err
	}
	defer above.close()
	claims, ino, err := above.makeDir(owner)
	if err != nil {
		return 0, err
	}
	claims.close()
	return ino, above.sync()
}

// makeDir makes the directory name, for this user alone, unless it is there,
// and opens it.
func (f *folder) makeDir(name string) (*folder, uint64, error) {
	if err := f.mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, 0, err
	}
	fd, err := f.openBelow(name, openFlags|unix.O_DIRECTORY)
	if err != nil {
		return nil, 0, f.noChild(name, err)
	}
	made := folderOf(fd, filepath.Join(f.path, name))
	var st unix.Stat_t
	err = errors.Join(unix.Fchmod(fd, 0o700), unix.Fstat(fd, &st)) // one that was left may lack bits
	if err != nil {
		err = f.fail("chmod", name, err)
	} else {
		err = private(made)
	}
	if err != nil {
		made.close()
		return nil, 0, err
	}
	return made, st.Ino, nil
}

// folderOf returns the folder of an open directory.
func folderOf(fd int, path string) *folder {
	return &folder{path: path, fd: fd, file: os.NewFile(uintptr(fd), path)}
}

// open opens the directory in which the claim is. It returns an error that wraps
// [ErrClaims] if it is missing or another one.
func (c *Claim) open() (*folder, error) {
	fd, err := c.dir.state.openBelow(c.folder, openFlags|unix.O_DIRECTORY)
	if err != nil {
		return nil, c.lost(err)
	}
	f := folderOf(fd, filepath.Join(c.dir.path, c.folder))
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		err = c.lost(err)
		f.close()
		return nil, err
	case st.Ino != c.ino:
		f.close()
		return nil, c.lost(fmt.Errorf("%w: inode %d was made with the state, inode %d is there", errAnother, c.ino, st.Ino))
	}
	if err := private(f); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// errAnother is what lost is told of a directory that is not the one of the
// manifest.
var errAnother = errors.New("it is another one")

// lost says that the directory is lost, if the system call failed because it is
// not there.
func (c *Claim) lost(err error) error {
	if !notThere(err) && !errors.Is(err, errAnother) {
		return c.dir.state.fail("open", c.folder, err)
	}
	var what any = err
	if said, ok := inItsPlace[err]; ok {
		what = said
	}
	// The cause is not wrapped: a claim that is not there is another matter.
	return fmt.Errorf("%s: %w (%v): if it was moved, put it back; else stop the state's programs and run `freehold state repair --dir %s`, which takes the claims that are there",
		filepath.Join(c.dir.path, c.folder), ErrClaims, what, ShellWord(c.dir.path))
}

// inItsPlace says what an error of opening a directory means.
var inItsPlace = map[error]string{
	unix.EXDEV:   "something is mounted there",
	unix.ELOOP:   "a symbolic link is in its place",
	unix.ENOTDIR: "something else is in its place",
}

// lostClaims returns the owners whose directory of claims is not the one of the
// manifest.
func (d *Store) lostClaims(m *schema.Manifest) (owners []string) {
	for _, owner := range m.Declaration.OwnerNames() {
		if !m.Declaration.Owners[owner].Claims() {
			continue
		}
		f, err := d.Claim(owner, "", m.Claims[owner]).open()
		if err == nil {
			f.close()
		} else if errors.Is(err, ErrClaims) {
			owners = append(owners, owner)
		}
	}
	return owners
}

// probe says whether a file can be made whole and under a name that nobody has
// in this directory.
func (c *Claim) probe() error {
	f, err := c.open()
	if err != nil {
		return err
	}
	defer f.close()
	return f.probeCreate()
}
