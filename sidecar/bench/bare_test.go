package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// bare is the least that a durable replacement takes.
type bare struct {
	dir    int
	path   string
	text   []byte
	digits []byte // the part of text that changes
}

func openBareSidecar(dir string) (contestant, error) {
	f, err := openFreehold(dir)
	if err != nil {
		return nil, err
	}
	if err := f.writer.Close(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	return newBare(dir, text)
}

func openBarePlain(dir string) (contestant, error) {
	text, err := plain(firstValue)
	if err != nil {
		return nil, err
	}
	return newBare(dir, text)
}

func newBare(dir string, text []byte) (*bare, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	value := []byte(measured + `":`)
	at := bytes.LastIndex(text, value) + len(value)
	return &bare{
		dir:    fd,
		path:   filepath.Join(dir, "bare.json"),
		text:   text,
		digits: text[at : at+len(strconv.Itoa(firstValue))],
	}, nil
}

func (b *bare) do(n int64) error {
	strconv.AppendInt(b.digits[:0], n, 10)
	fd, err := unix.Openat(b.dir, ".bare.json.new", unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	wrote, err := unix.Write(fd, b.text)
	if err == nil && wrote < len(b.text) {
		err = unix.ENOSPC
	}
	if err == nil {
		err = unix.Fsync(fd)
	}
	if err := errors.Join(err, unix.Close(fd)); err != nil {
		return err
	}
	if err := unix.Renameat(b.dir, ".bare.json.new", b.dir, "bare.json"); err != nil {
		return err
	}
	return unix.Fsync(b.dir)
}

func (b *bare) finish(n int64) error {
	if err := unix.Close(b.dir); err != nil {
		return err
	}
	text, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, b.text) {
		return errors.New("the file is not what was written last")
	}
	found, err := strconv.ParseInt(string(b.digits), 10, 64)
	if err != nil {
		return err
	}
	return want(found, n)
}
