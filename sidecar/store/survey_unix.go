//go:build unix

package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"golang.org/x/sys/unix"
)

// Survey looks at every file in the directory. It follows no links and opens no
// files.
func (d *Store) Survey(m *schema.Manifest) (Survey, error) {
	s := surveyor{dev: d.dev}
	k := namesOf(m)
	if err := s.look(d.state, "", k.inState, apart); err != nil {
		return Survey{}, err
	}
	err := s.look(d.meta, metaName, k.inMeta, within)
	slices.Sort(s.Foreign)
	return s.Survey, err
}

// A verdict says what becomes of a name in a survey.
type verdict int

const (
	foreign  verdict = iota // none of Freehold's
	ours                    // a file
	dateless                // a file that is not written when something happens
	apart                   // a directory that is looked at by itself, or is litter
	within                  // a directory in which everything is Freehold's
)

// verdictOn says what becomes of what has a role; staged is what becomes of a
// directory in the making. A file in the place of a directory is foreign.
func verdictOn(role Role, dir bool, staged verdict) verdict {
	switch {
	case role == SidecarFile, role == ManifestFile, role == RecordFile, role == StagedFile && !dir:
		return ours
	case role == LockFile:
		return dateless
	case role == StagedFile:
		return staged
	case role == Stranger, !dir:
		return foreign
	case role == MetaFolder:
		return apart
	}
	return within
}

type surveyor struct {
	Survey
	dev uint64
}

func (s *surveyor) look(f *folder, prefix string, judge func(name string, dir bool) (Role, string, bool), staged verdict) error {
	names, err := f.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		var st unix.Stat_t
		if err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return f.fail("stat", name, err)
		}
		kind := uint32(st.Mode) & unix.S_IFMT
		role, _, _ := judge(name, kind == unix.S_IFDIR)
		how := verdictOn(role, kind == unix.S_IFDIR, staged)
		switch at := filepath.Join(prefix, name); {
		case how == foreign, uint64(st.Dev) != s.dev, how != within && how != apart && kind != unix.S_IFREG:
			s.Foreign = append(s.Foreign, at)
		case how == ours:
			s.note(&st)
		case how == within:
			if err := s.below(filepath.Join(f.path, name), at); err != nil {
				return err
			}
		}
	}
	return nil
}

// below looks at a directory in which everything is Freehold's: files, what was
// moved out of the way, and directories of the same device.
func (s *surveyor) below(path, at string) error {
	f, err := openFolder(path)
	if err != nil {
		return err
	}
	defer f.close()
	names, err := f.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		var st unix.Stat_t
		if err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			continue // gone meanwhile
		}
		at := filepath.Join(at, name)
		switch {
		case uint64(st.Dev) != s.dev:
			s.Foreign = append(s.Foreign, at)
		case uint32(st.Mode)&unix.S_IFMT == unix.S_IFDIR:
			if err := s.below(filepath.Join(path, name), at); err != nil {
				return err
			}
		default:
			s.note(&st)
		}
	}
	return nil
}

func (s *surveyor) note(st *unix.Stat_t) {
	if at := time.Unix(int64(st.Mtim.Sec), int64(st.Mtim.Nsec)); at.After(s.Newest) {
		s.Newest = at
	}
}
