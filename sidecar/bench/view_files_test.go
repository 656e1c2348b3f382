package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// files is the state of five owners as five plain documents.
type files struct {
	paths []string
	field func(owner string) string // the name of the measured field
	load  func(path string) ([]byte, error)
}

func newFiles(dir string) (*files, error) {
	f := &files{field: func(string) string { return measured }, load: os.ReadFile}
	for _, owner := range owners {
		f.paths = append(f.paths, filepath.Join(dir, owner+".json"))
	}
	return f, os.MkdirAll(dir, 0o700)
}

// change replaces a file. It gives every version a time of its own, so that
// who goes by times is right here.
func (f *files) change(owner int, n int64) error {
	text, err := plain(n)
	if err != nil {
		return err
	}
	path := f.paths[owner]
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(path+".new", time.Time{}, time.Unix(n, 0)); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// read reads one file into a map.
func (f *files) read(owner int) (fields map[string]any, err error) {
	text, err := f.load(f.paths[owner])
	if err != nil {
		return nil, err
	}
	return fields, json.Unmarshal(text, &fields)
}

// value returns the measured field, as code with a map at hand would.
func (f *files) value(owner int, fields map[string]any) (int64, error) {
	n, ok := fields[f.field(owners[owner])].(float64)
	if !ok {
		return 0, fmt.Errorf("%s has no number %s", f.paths[owner], measured)
	}
	return int64(n), nil
}

func (f *files) close() error { return nil }

// readFiles reads and decodes every file for every view.
type readFiles struct{ *files }

func openReadFiles(dir string) (viewer, error) {
	f, err := newFiles(dir)
	return readFiles{f}, err
}

func (r readFiles) sum() (sum int64, err error) {
	for owner := range owners {
		fields, err := r.read(owner)
		if err != nil {
			return 0, err
		}
		n, err := r.value(owner, fields)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// lockedFiles does so under locks, which writers wait for and who waits for them.
type lockedFiles struct{ readFiles }

func openLockedFiles(dir string) (viewer, error) {
	f, err := newFiles(dir)
	f.load = lockedfile.Read
	return lockedFiles{readFiles{f}}, err
}

func (l lockedFiles) change(owner int, n int64) error {
	text, err := plain(n)
	if err != nil {
		return err
	}
	return lockedfile.Write(l.paths[owner], bytes.NewReader(text), 0o600)
}

// readSidecars does the same with the sidecars of a Freehold state.
type readSidecars struct {
	readFiles
	writers *freeholdState
}

func openReadSidecars(dir string) (viewer, error) {
	s, err := newFreeholdState(dir)
	if err != nil {
		return nil, err
	}
	f, err := newFiles(dir)
	if err != nil {
		return nil, err
	}
	f.field = func(owner string) string { return fieldOf(owner, measured) }
	return readSidecars{readFiles{f}, s}, nil
}

func (r readSidecars) change(owner int, n int64) error { return r.writers.change(owner, n) }

func (r readSidecars) close() error { return r.writers.close() }

// statFiles decodes a file again only if its status has changed.
type statFiles struct {
	*files
	seen [5]os.FileInfo
	have [5]map[string]any
}

func openStat(dir string) (viewer, error) {
	f, err := newFiles(dir)
	return &statFiles{files: f}, err
}

func (s *statFiles) sum() (sum int64, err error) {
	for owner := range owners {
		if err := s.refresh(owner); err != nil {
			return 0, err
		}
		n, err := s.value(owner, s.have[owner])
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func (s *statFiles) refresh(owner int) error {
	now, err := os.Stat(s.paths[owner])
	if err != nil {
		return err
	}
	if old := s.seen[owner]; old != nil && os.SameFile(old, now) && old.Size() == now.Size() && old.ModTime().Equal(now.ModTime()) {
		return nil
	}
	s.seen[owner] = now
	s.have[owner], err = s.read(owner)
	return err
}

// boltView reads every bucket for every view.
type boltView struct{ *boltStore }

func openBoltView(dir string) (viewer, error) {
	s, err := openBolt(dir, owners)
	if err == nil {
		s.db.NoSync = true // its writes are not timed
	}
	return boltView{s}, err
}

func (b boltView) change(owner int, n int64) error { return b.set(owners[owner], n) }

func (b boltView) sum() (sum int64, err error) {
	all, err := b.decode()
	for _, fields := range all {
		n, _ := fields[measured].(float64)
		sum += int64(n)
	}
	return sum, err
}

func (b boltView) close() error { return b.db.Close() }

// sqliteView reads everything again if the database says that it changed.
type sqliteView struct {
	reader, writer *sqliteStore
	version        int64
	have           map[string]map[string]any
}

func (d sqliteDriver) openView(dir string) (viewer, error) {
	w, err := d.open(dir, owners)
	if err != nil {
		return nil, err
	}
	r, err := d.open(dir, nil)
	return &sqliteView{reader: r, writer: w}, err
}

func (s *sqliteView) change(owner int, n int64) error { return s.writer.write(owners[owner], n) }

func (s *sqliteView) sum() (sum int64, err error) {
	moved, err := s.reader.moved(&s.version)
	if err != nil {
		return 0, err
	}
	if moved {
		if s.have, err = s.reader.decode(); err != nil {
			return 0, err
		}
	}
	for _, owner := range owners {
		n, _ := s.have[owner][measured].(int64)
		sum += n
	}
	return sum, nil
}

func (s *sqliteView) close() error { return errors.Join(s.reader.close(), s.writer.close()) }
