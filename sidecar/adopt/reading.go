package adopt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// Waits for a legacy file to stand still. Its writers take no lock: a file may
// be half written, or about to be written again.
const (
	stillWhole  = 250 * time.Millisecond // a valid file
	stillBroken = time.Second            // an invalid file, which may be half written
	stillAbsent = 50 * time.Millisecond  // a missing file, which may be about to be replaced
	patience    = time.Second            // the longest wait for a file that keeps changing
	pause       = 20 * time.Millisecond  // between two reads
)

// Read reads the legacy file at path: a regular file, or a link to one, of at
// most [MaxSize] bytes. A file that was just written is watched for up to a
// second.
//
// It returns an error that wraps [store.Missing] if there is no file at path;
// [store.Unreadable] if the file cannot be read; [store.Invalid] if
// it is not a JSON object; and [store.Busy] if it keeps changing.
func Read(ctx context.Context, path string) (*Legacy, error) {
	start := time.Now()
	last, err := look(path)
	if err != nil {
		return nil, err
	}
	since, moved := last.since(start), false
	l, verdict := last.judge(path)
	for {
		switch {
		case time.Since(since) >= last.still(verdict):
			return l, verdict
		case moved && time.Since(start) >= patience:
			return nil, active(path, "stop the program that writes the file, then adopt it", "the file keeps changing")
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		next, err := look(path)
		if err != nil {
			return nil, err
		}
		if !next.equal(last) {
			since, moved = time.Now(), true
			l, verdict = next.judge(path)
		}
		last = next
	}
}

// A glance is one reading of the path of a legacy file.
type glance struct {
	absent bool
	steady bool // the file did not change while it was read
	text   []byte
	info   fs.FileInfo
}

// look reads the file at path once.
func look(path string) (*glance, error) {
	var f *os.File
	info, err := os.Stat(path) // opening a device or a pipe may block or have effects
	if err == nil && info.Mode().IsRegular() {
		if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			defer f.Close()
			info, err = f.Stat()
		}
	}
	switch {
	case err != nil:
		return missing(path, err)
	case !info.Mode().IsRegular():
		return nil, unreadable(path, fmt.Errorf("not a regular file but a %s", typeName(info.Mode())))
	case info.Size() > MaxSize:
		return nil, unreadable(path, fmt.Errorf("it has %d bytes, more than the %d allowed", info.Size(), MaxSize))
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if len(text) > MaxSize {
		return nil, unreadable(path, fmt.Errorf("it grew past the %d bytes allowed", MaxSize))
	}
	after, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	steady := after.Size() == info.Size() && after.ModTime().Equal(info.ModTime()) && int64(len(text)) == info.Size()
	return &glance{steady: steady, text: text, info: after}, nil
}

// missing tells an absent file from an unreachable one. A dangling link is
// unreachable.
func missing(path string, err error) (*glance, error) {
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(path, err)
	}
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if _, err := os.Stat(at); err != nil {
				return nil, unreadable(path, fmt.Errorf("%s is a symbolic link that leads nowhere", at))
			}
		}
		if at == filepath.Dir(at) {
			return &glance{absent: true, steady: true}, nil
		}
	}
}

func unreadable(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return &store.Error{Status: store.Unreadable, Path: path, Remedy: store.Remedy{Note: "make the file readable, or name another one"}, Err: err}
}

func typeName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "file of unknown type"
}

// since returns the time of the last known write. A time stamp in the future is
// ignored.
func (g *glance) since(now time.Time) time.Time {
	if !g.absent && g.steady && g.info.ModTime().Before(now) {
		return g.info.ModTime()
	}
	return now
}

// still returns the time without change after which the verdict err is final.
func (g *glance) still(err error) time.Duration {
	switch {
	case g.absent:
		return stillAbsent
	case err != nil:
		return stillBroken
	}
	return stillWhole
}

func (g *glance) judge(path string) (*Legacy, error) {
	if g.absent {
		return nil, &store.Error{Status: store.Missing, Path: path, Err: errors.New("there is no legacy file: nothing to do")}
	}
	return Parse(path, g.text)
}

func (g *glance) equal(other *glance) bool {
	if g.absent || other.absent {
		return g.absent == other.absent
	}
	return g.steady && os.SameFile(g.info, other.info) && g.info.ModTime().Equal(other.info.ModTime()) && bytes.Equal(g.text, other.text)
}

// sleep waits for d. It returns the cause if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
