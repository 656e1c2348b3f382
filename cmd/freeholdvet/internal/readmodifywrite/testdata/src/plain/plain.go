package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

type usage struct{ Count int }

// The bug that started all this.
func bump(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var u usage
	if err := json.Unmarshal(text, &u); err != nil {
		return err
	}
	u.Count++
	if text, err = json.Marshal(u); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600) // want `this rewrites the file that was read at plain.go:15, so another process's write in between is lost: declare the file's fields in owners.yaml and write through their owner's Update; where no other process writes the file, allow it: //freehold:allow readmodifywrite REASON`
}

// Renaming makes it atomic, not safe.
func renamed(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "usage.json"))
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, "usage.json.tmp")
	if err := os.WriteFile(temp, bytes.ToUpper(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, "usage.json")) // want `read at plain.go:32`
}

const config = "config.json"

var global = fmt.Sprintf("%s/usage.json", os.Getenv("HOME"))

func constants() {
	text, _ := os.ReadFile("config.json")
	os.WriteFile(config, append(text, '\n'), 0o600) // want `read at plain.go:48`
	text, _ = os.ReadFile(global)
	os.WriteFile(global, append(text, '\n'), 0o600) // want `read at plain.go:50`
}

type store struct{ path, other string }

func (s *store) file() string { return filepath.Join(s.path, "usage.json") }

func (s *store) fields() {
	text, _ := os.ReadFile(s.path)
	os.WriteFile(s.path, append(text, '\n'), 0o600) // want `read at plain.go:59`
}

func (s *store) distinctFields() {
	text, _ := os.ReadFile(s.path)
	os.WriteFile(s.other, text, 0o600)
}

func twoStores(a, b *store) {
	text, _ := os.ReadFile(a.path)
	os.WriteFile(b.path, text, 0o600)
	text, _ = os.ReadFile(a.file())
	os.WriteFile(b.file(), text, 0o600)
	os.WriteFile(filepath.Join(a.path, "usage.json"), text, 0o600) // want `read at plain.go:71`
}

func roots(a, b *os.Root) {
	text, _ := a.ReadFile("usage.json")
	b.WriteFile("usage.json", text, 0o600)
	a.WriteFile("usage.json", text, 0o600) // want `read at plain.go:77`
}

func elements(paths []string, i, j int) {
	text, _ := os.ReadFile(paths[i])
	os.WriteFile(paths[j], text, 0o600)
	os.WriteFile(paths[i], text, 0o600) // want `read at plain.go:83`
}

func pointer(path *string) {
	text, _ := os.ReadFile(*path)
	os.WriteFile(*path, text, 0o600) // want `read at plain.go:89`
}

func absolute(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if path, err := filepath.EvalSymlinks(path); err == nil {
		return os.WriteFile(path, append(text, '\n'), 0o600) // want `read at plain.go:94`
	}
	return nil
}

func distinct(dir string) {
	text, _ := os.ReadFile(filepath.Join(dir, "a"))
	os.WriteFile(filepath.Join(dir, "b"), text, 0o600)
	os.WriteFile(filepath.Join(dir, "a.bak"), text, 0o600)
}

func appends(path string) {
	text, _ := os.ReadFile(path)
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.Write(text)
}

func createsNew(path string) {
	text, _ := os.ReadFile(path)
	f, _ := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	f.Write(text)
}

func consumes(path string) {
	text, _ := os.ReadFile(path)
	os.WriteFile("archive", text, 0o600)
	os.Remove(path)
}

func fresh() {
	a, _ := os.MkdirTemp("", "")
	b, _ := os.MkdirTemp("", "")
	text, _ := os.ReadFile(filepath.Join(a, "x"))
	os.WriteFile(filepath.Join(b, "x"), text, 0o600)
}

// A lock helps only where everybody takes it, which cannot be seen here.
func locked(path string, lock func() func()) {
	defer lock()()
	text, _ := os.ReadFile(path)
	os.WriteFile(path, append(text, '\n'), 0o600) // want `read at plain.go:138`
}

func allowed(path string) {
	text, _ := os.ReadFile(path)
	//freehold:allow readmodifywrite this program alone has the directory,
	// which it made for itself
	os.WriteFile(path, append(text, '\n'), 0o600)
}

func twice(path string) {
	text, _ := os.ReadFile(path)
	os.WriteFile(path, append(text, '\n'), 0o600) // want `read at plain.go:150`
	os.WriteFile(path, append(text, '\r'), 0o600) // the same again
}

var literal = func(path string) {
	text, _ := os.ReadFile(path)
	os.WriteFile(path, text, 0o600) // want `read at plain.go:156`
}
