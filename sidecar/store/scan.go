package store

import (
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"strings"
)

// An Entry is a name in a state directory, and its attributes.
type Entry = statedir.Entry

// A Role says which part of a state a name in its directory is. Directories are
// "state" (itself), "meta", "pending", "claims", "quarantine" and "upgrade" (one
// that is not finished); files are "manifest", "sidecar", "lock", "record",
// "patch", "claim", "quarantined" and "staged". A name that is none of
// Freehold's has no role.
type Role = statedir.Role

// A Holder is the process that has a lock for itself, as far as the kernel tells.
type Holder = lock.Holder

// Scan lists the state directory, itself first, and all files in it, but only
// the names of the directories of other programs. It follows no link, reads no
// file, and takes no lock that a program could want.
func (s *Store) Scan(m *schema.Manifest) ([]Entry, error) {
	entries, err := s.dir.Scan(m)
	for i := range entries {
		e := &entries[i]
		if !e.Orphaned || e.Owner == "" || e.Type != "file" || strings.Contains(e.Name, "/") || s.Owner(m, e.Owner).Err == nil {
			continue
		}
		e.Intact = s.versionIn(m, e.Owner, e.Name)
	}
	return entries, err
}

// Lost returns the lock files and the directories of claims and of pending
// patches that are not the ones of the manifest, with a name, a role, an owner
// and an error.
func (s *Store) Lost(m *schema.Manifest) []Entry { return s.dir.Lost(m) }

// Holder returns the process that has the lock called name, one of [Files],
// without trying the lock. It may look at every process of the machine. A lost
// lock is an error that wraps [Lost].
func (s *Store) Holder(m *schema.Manifest, name string) (Holder, error) { return s.dir.Holder(m, name) }

// Locked reports whether a process has, or may have, the commit lock of owner,
// without trying the lock. A lost lock is an error that wraps [Lost].
func (s *Store) Locked(m *schema.Manifest, owner string) (bool, error) { return s.dir.Locked(m, owner) }

// Leftovers lists the directories in path, sorted by name, in which processes
// make or remove a state. Those of killed processes are orphaned.
func Leftovers(path string) ([]Entry, error) { return statedir.Leftovers(path) }

// Patches reads the pending patches of owner, sorted by name, without a lock.
// It returns an error, and none of them, if the directory cannot be read or is
// flooded.
func (s *Store) Patches(m *schema.Manifest, owner string) ([]statedir.PendingFile, error) {
	return s.dir.Patches(m, owner)
}

// Quarantined calls look with the path of each quarantined sidecar of owner and
// its value of the field, or nil: copies of upgrades first, then the others,
// oldest first. err says that the file is no sidecar.
func (s *Store) Quarantined(owner, field string, look func(path string, value []byte, err error)) error {
	return s.dir.Quarantine().Each(statedir.Sidecar(owner), func(path string, raw []byte) {
		doc, err := document.DecodeForeign(raw)
		if err != nil {
			look(path, nil, err)
			return
		}
		look(path, doc.Value(field), nil)
	})
}

// Kept returns the reason for which the rejected patch name is in the
// quarantine, or an error that wraps [fs.ErrNotExist].
func (s *Store) Kept(name string) (why string, err error) { return s.dir.Quarantine().Reason(name) }

// OwnerIn returns the owner of a sidecar that has the name of no declared
// owner, or false if the file is no sidecar.
func (s *Store) OwnerIn(name string) (owner string, ok bool) {
	raw, err := s.dir.ReadFile(name, nil, document.MaxSize)
	if err != nil {
		return "", false
	}
	doc, err := document.DecodeForeign(raw)
	if err != nil || doc.State == "" {
		return "", false
	}
	return doc.Owner, true
}

// Ours returns this user and the group that files of the directory of path should
// have, as chown takes them.
func Ours(path string) string { return statedir.Ours(path) }

// Probe tries the system calls of a commit of the owners in the state directory and in
// .freehold, and leaves nothing: it writes, locks, syncs and tries to rename. The error
// is that of the system.
func (s *Store) Probe(owners []string) error { return statedir.Probe(s.dir, owners) }

// User returns the number of this process's user, by which the kernel opens files.
func User() int { return statedir.User() }

// Files are the names of an owner's files: the sidecar, in the state directory,
// and in .freehold the commit lock, the lease, the fence, the lease's record,
// and the directory of pending patches.
type Files struct{ Sidecar, Lock, Lease, Fence, Record, Pending string }

// FilesOf returns the names of owner's files.
func FilesOf(owner string) Files {
	return Files{
		Sidecar: statedir.Sidecar(owner), Lock: statedir.OwnerLock(owner), Lease: statedir.OwnerLease(owner),
		Fence: statedir.OwnerFence(owner), Record: statedir.OwnerRecord(owner), Pending: statedir.OwnerPending(owner),
	}
}

// ClaimFile names the file of a once field, relative to the state directory.
func ClaimFile(owner, field string) string { return statedir.ClaimFile(owner, field) }

// Folders returns the directories, relative to the state directory, that a view
// of d's state reads.
func Folders(d *schema.Declaration) []string { return statedir.Folders(d) }

// An Identity tells one process from its successor. Judge says whether the
// process lives.
type Identity = process.Identity

// The answers of Judge.
const (
	CannotJudge = process.CannotJudge
	Alive       = process.Alive
	Gone        = process.Gone
)
