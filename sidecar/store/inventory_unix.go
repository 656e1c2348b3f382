//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"golang.org/x/sys/unix"
)

// Inventory lists what is in the state directory, itself first, with what each
// name is to Freehold. It follows no links, opens no files and takes no locks.
// Of a directory that is none of Freehold's, and of the quarantine's, it does
// not say what is in it.
func (d *Store) Inventory(m *schema.Manifest) ([]Found, error) {
	i := &inventory{known: namesOf(m)}
	i.note(d.state.path, ".", StateFolder, "")
	i.list(d.state, "", i.inState)
	i.list(d.meta, metaName, i.inMeta)
	return i.all, i.err
}

type inventory struct {
	known
	all []Found
	err error
}

// list notes what is in f, and looks further where judge says so.
func (i *inventory) list(f *folder, prefix string, judge func(name string, dir bool) (Role, string, bool)) {
	names, err := f.names()
	if err != nil {
		i.err = errors.Join(i.err, err)
		return
	}
	slices.Sort(names)
	for _, name := range names {
		info, err := f.root.Lstat(name)
		if err != nil {
			continue // gone meanwhile
		}
		role, owner, deeper := judge(name, info.IsDir())
		at := filepath.Join(prefix, name)
		i.note(filepath.Join(f.path, name), at, role, owner)
		if !deeper {
			continue
		}
		below, err := openFolder(filepath.Join(f.path, name))
		if err != nil {
			continue // what is wrong with it, its mode says, or whoever needs it
		}
		i.list(below, at, i.inside(role, owner))
		below.close()
	}
}

// note looks at path and adds it under the name at.
func (i *inventory) note(path, at string, role Role, owner string) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			i.err = errors.Join(i.err, &fs.PathError{Op: "lstat", Path: path, Err: err})
		}
		return
	}
	found := Found{
		Name: at, Role: role, Owner: owner, Type: "file", Mode: fs.FileMode(st.Mode & 0o777), UID: int(st.Uid),
		Links: int(st.Nlink), Size: st.Size, Written: time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec)),
	}
	if uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG {
		found.Type = typeName(uint32(st.Mode))
	}
	if role == SidecarFile && found.Type == "file" {
		found.Attributes = attributes(path)
	}
	i.all = append(i.all, found)
}

// Lost returns what is missing of the lock files, of the directories of claims
// and of those of pending patches, or is another one.
func (d *Store) Lost(m *schema.Manifest) (lost []Loss) {
	add := func(name string, role Role, owner string, err error) {
		lost = append(lost, Loss{filepath.Join(metaName, name), role, owner, err})
	}
	for _, name := range lockNames(&m.Declaration) {
		l, err := d.OpenLock(name, m.Locks[name])
		if err != nil {
			add(name, LockFile, lockOwner(name), err)
			continue
		}
		l.file.Close()
	}
	for _, owner := range d.lostClaims(m) {
		_, err := d.Claim(owner, "", m.Claims[owner]).open()
		add(filepath.Join(claimsName, owner), ClaimsFolder, owner, err)
	}
	for _, owner := range m.Declaration.OwnerNames() {
		if !m.Declaration.Owners[owner].Defers() {
			continue
		}
		a, err := d.OpenPending(owner)
		if err != nil {
			add(OwnerPending(owner), PendingFolder, owner, err)
			continue
		}
		a.Close()
	}
	return lost
}

// User returns the number of the user as whom this process opens files.
func User() int { return os.Geteuid() }
