//go:build unix

package statedir

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"golang.org/x/sys/unix"
)

// Survey looks at every file in the directory. It follows no links and opens no
// files.
func (d *Dir) Survey(m *schema.Manifest) (Survey, error) {
	s := surveyor{dev: d.dev}
	var targets, records []string
	folders := []string{quarantineName, claimsName}
	for _, owner := range m.Declaration.OwnerNames() {
		targets = append(targets, Sidecar(owner))
	}
	for _, owner := range everOwners(m) {
		records = append(records, OwnerRecord(owner))
		folders = append(folders, OwnerAside(owner))
	}
	records = append(records, manifestName)
	err := s.look(d.state, "", func(name string, dir bool) verdict {
		switch {
		case dir && (name == metaName || leftover(name)):
			return apart
		case !dir && (slices.Contains(targets, name) || staging(name, targets)):
			return ours
		}
		return foreign
	})
	if err != nil {
		return Survey{}, err
	}
	err = s.look(d.meta, metaName, func(name string, dir bool) verdict {
		_, upgrading := nonceAfter(upgradePrefix, name)
		switch {
		case dir && (slices.Contains(folders, name) || upgrading):
			return within
		case !dir && (slices.Contains(records, name) || staging(name, records)):
			return ours
		case !dir && m.Locks[name] != 0:
			return dateless
		}
		return foreign
	})
	slices.Sort(s.Foreign)
	return s.Survey, err
}

// everOwners returns the owners that m's state has, and those that it had
// before an upgrade removed them: their lock files are there still, and in the
// manifest.
func everOwners(m *schema.Manifest) (owners []string) {
	for name := range m.Locks {
		if owner, ok := strings.CutSuffix(name, ".lock"); ok {
			owners = append(owners, owner)
		}
	}
	return owners
}

// staging reports whether a writer of one of targets could have given the name
// to what it staged.
func staging(name string, targets []string) bool {
	return slices.ContainsFunc(targets, func(target string) bool { return stages(name, target) })
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

type surveyor struct {
	Survey
	dev uint64
}

func (s *surveyor) look(f *folder, prefix string, judge func(name string, dir bool) verdict) error {
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
		how := judge(name, kind == unix.S_IFDIR)
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
