// Package harmless reads files and writes files, and never what it has read.
package harmless

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

func initialises(p string) error {
	if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(p, []byte("{}"), 0o600)
	}
	b, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, new(any))
}

func verifies(p string, v []byte) bool {
	os.WriteFile(p, v, 0o600)
	b, _ := os.ReadFile(p)
	return bytes.Equal(b, v)
}

func copies(a, b string) error {
	src, err := os.Open(a)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(b)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		return err
	}
	return dst.Close()
}

func golden(p string, got []byte, update bool) bool {
	if update {
		os.WriteFile(p, got, 0o600)
	}
	want, _ := os.ReadFile(p)
	return bytes.Equal(want, got)
}

func onlyIfChanged(p string, want []byte) {
	if have, err := os.ReadFile(p); err == nil && bytes.Equal(have, want) {
		return
	}
	tmp := p + ".tmp"
	os.WriteFile(tmp, want, 0o600)
	os.Rename(tmp, p)
}

func elsewhere(a, b string) {
	t, _ := os.ReadFile(filepath.Join(a, "x"))
	os.WriteFile(filepath.Join(b, "x"), t, 0o600)
}

func orElse(p string) []byte {
	if b, err := os.ReadFile(p); err == nil {
		return b
	}
	b := []byte("default")
	os.WriteFile(p, b, 0o600)
	return b
}

func pidInLock(p string) {
	f, _ := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o600)
	f.Truncate(0)
	f.WriteString("1")
}

func digest(p string, want [32]byte, fetch func() []byte) {
	b, err := os.ReadFile(p)
	if err == nil && sha256.Sum256(b) == want {
		return
	}
	os.WriteFile(p, fetch(), 0o600)
}

func digestInText(p, want string, fetch func() []byte) {
	b, _ := os.ReadFile(p)
	sum := sha256.Sum256(b)
	if hex.EncodeToString(sum[:]) != want {
		os.WriteFile(p, fetch(), 0o600)
	}
}

func restored(p string, empty []byte) error {
	b, err := os.ReadFile(p)
	if err != nil || json.Valid(b) {
		return err
	}
	return os.WriteFile(p, empty, 0o600)
}

func holder(p string, pid int) {
	f, _ := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o600)
	f.Truncate(0)
	f.Seek(0, io.SeekStart)
	fmt.Fprintln(f, pid)
	json.NewEncoder(f).Encode(pid)
}

func verifiesHandle(p string, v []byte) {
	f, _ := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o600)
	f.Write(v)
	f.Seek(0, io.SeekStart)
	io.ReadAll(f)
}

func continues(p string) {
	f, _ := os.OpenFile(p, os.O_RDWR|os.O_APPEND, 0o600)
	io.ReadAll(f)
	f.WriteString("x")
}

func header(p string) {
	f, _ := os.OpenFile(p, os.O_RDWR, 0)
	b := make([]byte, 4)
	f.Read(b)
}

func source(dir string) {
	for _, n := range []string{"a", "b"} {
		b, _ := os.ReadFile(filepath.Join(dir, "src", n))
		os.WriteFile(filepath.Join(dir, "dst", n), b, 0o600)
	}
}

func chain(p string, want [32]byte) {
	b, _ := os.ReadFile(p)
	sum := sha256.Sum256(b)
	for range 3 {
		sum = sha256.Sum256(sum[:])
	}
	if sum != want {
		os.WriteFile(p, nil, 0o600)
	}
}
