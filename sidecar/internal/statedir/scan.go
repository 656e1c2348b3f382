package statedir

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"golang.org/x/sys/unix"
)

// An Entry is a name in a state directory, and its attributes.
type Entry struct {
	// Name relative to the state directory.
	Name string
	Role Role
	// Owner of the file; empty for a file of the whole state.
	Owner string
	// Type in words: "file", "directory", "symbolic link".
	Type string
	// Mode has the permission bits.
	Mode fs.FileMode
	UID  int
	// Group is the group of the file if this user may not give it, and a commit
	// could not keep it; else -1.
	Group int
	Links int // names of the file
	Size  int64
	// Written is the time of the last write, by the file system. Of a directory
	// in the quarantine, or of a staged one, it is that of its newest file.
	Written time.Time
	// Attributes are the extended attributes, access lists among them, that
	// a sidecar loses when a commit replaces it.
	Attributes []string
	// Mounted says that something is mounted over the name, or that a name below it
	// is on another file system.
	Mounted bool
	// Orphaned says that a killed process left a [StagedFile]: no process
	// holds the lock of its writer.
	Orphaned bool
	// Intact is the version of an orphaned whole sidecar, while that of its owner
	// cannot be used; or zero. Package store fills it in.
	Intact schema.Version
	// Err is the reason why the entry could not be judged or, of [Dir.Lost],
	// the loss.
	Err error

	lock string // of the writer of a staged file; empty if the file is its own lock
}

// Foreign reports whether the entry is none of Freehold's, so that its instance
// is not removed.
func (e Entry) Foreign() bool {
	switch e.Role {
	case Stranger:
		return true
	case QuarantinedFile:
		return e.Mounted
	case StagedFile, UpgradeFolder:
		return e.Mounted || e.Type != "file" && e.Type != "directory"
	case StateFolder:
		return false
	}
	return e.Mounted || e.Role.folder() != (e.Type == "directory") || !e.Role.folder() && e.Type != "file"
}

// Dated reports whether a write of the state dates the entry.
func (e Entry) Dated() bool { return e.Role != LockFile && !e.Role.folder() }

// Scan lists the state directory, as package store says. For the holders of
// locks it asks the kernel.
func (d *Dir) Scan(m *schema.Manifest) ([]Entry, error) {
	s := &scan{names: namesOf(m), dev: d.state.Device()}
	s.note(d.state, ".", ".", StateFolder, "")
	s.list(d.state, "", s.names.inState)
	s.list(d.meta, metaName, s.names.inMeta)
	judge(d, m, s.entries)
	return s.entries, s.err
}

// A scan is one walk through a state directory.
type scan struct {
	names   nameTable
	dev     uint64
	entries []Entry
	err     error
}

// list notes the names in f, and lists the directories of known roles.
func (s *scan) list(f *dir.Dir, prefix string, roleOf func(name string) (Role, string)) {
	all, err := f.Names()
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	slices.Sort(all)
	for _, name := range all {
		role, owner := roleOf(name)
		at := filepath.Join(prefix, name)
		e, ok := s.note(f, name, at, role, owner)
		if !ok || e.Type != "directory" {
			continue
		}
		switch {
		case role == StagedFile && prefix != metaName, role == MetaFolder, role == Stranger, role == SidecarFile:
			continue
		case !role.folder():
			s.sum(f.Join(name), e)
			continue
		}
		below, err := dir.Open(f.Join(name))
		if err != nil {
			continue // its mode shows the reason, or the reader of its files reports it
		}
		s.list(below, at, s.names.inside(role, owner))
		below.Close()
	}
}

// note adds the entry of a name in f, unless it is gone.
func (s *scan) note(f *dir.Dir, name, at string, role Role, owner string) (*Entry, bool) {
	var st unix.Stat_t
	if err := unix.Fstatat(f.FD(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.err = errors.Join(s.err, f.Fail("stat", name, err))
		}
		return nil, false
	}
	e := Entry{
		Name: at, Role: role, Owner: owner, Type: "file", Mode: fs.FileMode(st.Mode & 0o777), UID: int(st.Uid), Group: -1, Links: int(st.Nlink),
		Size: st.Size, Written: modified(&st), Mounted: uint64(st.Dev) != s.dev || dir.Mounted(f.Join(name)),
	}
	if int(st.Uid) == User() && !mine(int(st.Gid)) {
		e.Group = int(st.Gid)
	}
	if uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG {
		e.Type = dir.TypeName(uint32(st.Mode))
	}
	if role == SidecarFile && e.Type == "file" {
		e.Attributes = dir.Attributes(f.Join(name))
	}
	if role == StagedFile {
		e.lock = s.names.lockOf(name, filepath.Dir(at) == metaName)
	}
	s.entries = append(s.entries, e)
	return &s.entries[len(s.entries)-1], true
}

// sum notes in the entry of a directory the newest file below it.
func (s *scan) sum(path string, e *Entry) {
	e.Written = time.Time{}
	s.err = errors.Join(s.err, filepath.WalkDir(path, func(at string, _ fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil {
			err = unix.Lstat(at, &st)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case uint64(st.Dev) != s.dev:
			e.Mounted = true
			return fs.SkipDir
		}
		if at := modified(&st); uint32(st.Mode)&unix.S_IFMT != unix.S_IFDIR && at.After(e.Written) {
			e.Written = at
		}
		return nil
	}))
}

func modified(st *unix.Stat_t) time.Time {
	return time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec))
}

// Lost returns the lock files and the directories of claims and of pending
// patches that are lost, with a name, a role, an owner and an error.
func (d *Dir) Lost(m *schema.Manifest) (lost []Entry) {
	add := func(name string, role Role, owner string, err error) {
		if err != nil {
			lost = append(lost, Entry{Name: filepath.Join(metaName, name), Role: role, Owner: owner, Err: err})
		}
	}
	for _, name := range lockNames(&m.Declaration) {
		l, err := d.OpenLock(m, name)
		add(name, LockFile, lockOwner(name), err)
		if err == nil {
			l.File().Close()
		}
	}
	for _, owner := range lostClaims(d, m) {
		err := d.Claim(m, owner, "").Check()
		add(filepath.Join(claimsName, owner), ClaimsFolder, owner, err)
	}
	for _, owner := range m.Declaration.OwnerNames() {
		if !m.Declaration.Owners[owner].Defers() {
			continue
		}
		a, err := d.OpenPending(m, owner)
		add(OwnerPending(owner), PendingFolder, owner, err)
		if err == nil {
			a.Close()
		}
	}
	return lost
}
