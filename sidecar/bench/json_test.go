package bench

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/rogpeppe/go-internal/lockedfile"
)

// A jsonFile is the state in one JSON file, which is read, changed and written
// back.
type jsonFile struct {
	path string
	edit func(text []byte, n int64) ([]byte, error)
}

func newJSONFile(dir string) (jsonFile, error) {
	d := jsonFile{filepath.Join(dir, "state.json"), edit}
	text, err := plain(firstValue)
	if err != nil {
		return d, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return d, err
	}
	return d, os.WriteFile(d.path, text, 0o600)
}

// edit returns text with the value n in it.
func edit(text []byte, n int64) ([]byte, error) {
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	s.TokensIn, s.UpdatedAt = n, time.Now().UTC()
	return json.Marshal(&s)
}

func (d jsonFile) finish(n int64) error {
	text, err := os.ReadFile(d.path)
	if err != nil {
		return err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	return want(s.TokensIn, n)
}

// flocked is what a careful program does by hand.
type flocked struct {
	jsonFile
	lock *flock.Flock
	dir  *os.File
}

func openFlocked(dir string) (contestant, error) {
	d, err := newJSONFile(dir)
	if err != nil {
		return nil, err
	}
	return openFlockedFile(d)
}

func openFlockedFile(d jsonFile) (contestant, error) {
	dir, err := os.Open(filepath.Dir(d.path))
	return &flocked{jsonFile: d, lock: flock.New(d.path + ".lock"), dir: dir}, err
}

func (f *flocked) do(n int64) (err error) {
	if err := f.lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.lock.Unlock()) }()
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	if text, err = f.edit(text, n); err != nil {
		return err
	}
	return f.replace(text)
}

func (f *flocked) replace(text []byte) error {
	file, err := os.CreateTemp(f.dir.Name(), ".state.json.*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	if err := os.Rename(file.Name(), f.path); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return f.dir.Sync()
}

func (f *flocked) finish(n int64) error {
	return errors.Join(f.lock.Close(), f.dir.Close(), f.jsonFile.finish(n))
}

// renamed uses renameio, which syncs the file and not the directory.
type renamed struct{ jsonFile }

func openRenameio(dir string) (contestant, error) {
	d, err := newJSONFile(dir)
	return renamed{d}, err
}

func openRenamedFile(d jsonFile) (contestant, error) { return renamed{d}, nil }

func (r renamed) do(n int64) error {
	text, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	if text, err = r.edit(text, n); err != nil {
		return err
	}
	// The directory spares renameio a search for one on the same disk.
	return renameio.WriteFile(r.path, text, 0o600, renameio.WithTempDir(filepath.Dir(r.path)))
}

// transformed uses lockedfile as it is meant to be used.
type transformed struct{ jsonFile }

func openLockedfile(dir string) (contestant, error) {
	d, err := newJSONFile(dir)
	return transformed{d}, err
}

func openTransformedFile(d jsonFile) (contestant, error) { return transformed{d}, nil }

func (t transformed) do(n int64) error {
	return lockedfile.Transform(t.path, func(text []byte) ([]byte, error) { return t.edit(text, n) })
}

// synced writes in place under a lockedfile lock, and syncs.
type synced struct{ jsonFile }

func openLockedfileSynced(dir string) (contestant, error) {
	d, err := newJSONFile(dir)
	return synced{d}, err
}

func openSyncedFile(d jsonFile) (contestant, error) { return synced{d}, nil }

func (s synced) do(n int64) (err error) {
	file, err := lockedfile.Edit(s.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	old := len(text)
	if text, err = s.edit(text, n); err != nil {
		return err
	}
	if _, err := file.WriteAt(text, 0); err != nil {
		return err
	}
	if len(text) < old {
		if err := file.Truncate(int64(len(text))); err != nil {
			return err
		}
	}
	return file.Sync()
}
