package call

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
)

type store struct {
	dir   string
	Count int
}

func (s *store) load() error {
	text, err := os.ReadFile(filepath.Join(s.dir, "store.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, s)
}

func (s *store) save() error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return write(filepath.Join(s.dir, "store.json"), text)
}

func write(path string, text []byte) error {
	if err := os.WriteFile(path+".tmp", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func (s *store) bump() error {
	if err := s.load(); err != nil {
		return err
	}
	s.Count++
	return s.save() // want `read at call.go:39`
}

// The caller of a function that does both has nothing to mend.
func bumpTwice(s *store) {
	s.bump()
	s.bump()
}

func migrate(from, to *store) error {
	if err := from.load(); err != nil {
		return err
	}
	to.Count = from.Count
	return to.save()
}

func read[T any](path string) (v T, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(text, &v)
}

func generic(path string) {
	v, _ := read[map[string]int](path)
	text, _ := json.Marshal(v)
	write(path, text) // want `read at call.go:69`
}

// upToDate hands nothing on of what it reads.
func upToDate(path string, want string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.HasSuffix(text, []byte(want))
}

func update(path, want string) {
	if !upToDate(path, want) {
		write(path, []byte(want))
	}
}

func recursive(path string, n int) {
	if n > 0 {
		recursive(path, n-1)
	}
	text, _ := os.ReadFile(path)
	write(path, text) // want `read at call.go:90`
}
