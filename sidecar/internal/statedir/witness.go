package statedir

import (
	"errors"
	"io"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/witness"
	"golang.org/x/sys/unix"
)

// A Witness is the part of an owner's lock file that tells which versions and
// claims the owner has reached. It raises alarms and grants nothing. A line that
// is blank, torn or unreadable says nothing.
//
// Readers read the witness before the file that it is about, and believe an alarm
// only if a second reading in that order agrees. It is safe for concurrent use.
type Witness struct {
	dir  *Dir
	path string // of the lock file, relative to the state
	ino  uint64
}

// A WitnessLine is the line of a witness about the sidecar, as it was read.
type WitnessLine [witness.Size]byte

// Newest returns the version that the sidecar has reached for sure, or zero.
func (l *WitnessLine) Newest() schema.Version {
	return witness.Parse(l[:]).Newest(process.Self().Boot)
}

// WitnessOf returns the witness of an owner.
func WitnessOf(d *Dir, m *schema.Manifest, owner string) *Witness {
	name := OwnerLock(owner)
	return &Witness{d, metaName + "/" + name, m.Locks[name]}
}

// Read reads the line about the sidecar. It allocates nothing.
func (w *Witness) Read(line *WitnessLine) { w.read(line[:], witness.Offset) }

// Epoch returns the largest epoch in the line about the sidecar, or zero.
func (w *Witness) Epoch() uint64 {
	var line WitnessLine
	w.Read(&line)
	told := witness.Parse(line[:])
	return max(told.Published.Epoch, told.Durable.Epoch)
}

// A ClaimLine is the line of a witness about a claim, as it was read.
type ClaimLine [witness.SlotSize]byte

// Nonce returns the nonce of the claim that was made, or "".
func (l *ClaimLine) Nonce() string { return witness.ParseClaim(l[:]) }

// ReadClaim reads the line about the claim with the given place. It allocates
// nothing.
func (w *Witness) ReadClaim(place int, line *ClaimLine) {
	w.read(line[:], witness.SlotOffset(place))
}

func (w *Witness) read(line []byte, at int64) {
	fd, err := w.open(dir.Readable)
	if err == nil {
		var n int
		n, err = unix.Pread(fd, line, at)
		unix.Close(fd)
		if err == nil && n == len(line) {
			return
		}
	}
	clear(line)
}

// open opens the lock file.
func (w *Witness) open(how dir.Access) (int, error) {
	fd, err := dir.OpenFor(w.dir.state, w.path, how)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Ino != w.ino {
		unix.Close(fd)
		return -1, w.dir.state.Fail("open", w.path, errors.New("it is not the lock file of the state"))
	}
	return fd, nil
}

// Published notes that the version v of the sidecar was published, and is on disk
// if durable. The caller holds the owner's lock.
func (w *Witness) Published(v schema.Version, durable bool) error {
	now := witness.Witness{Published: v, Durable: v, Boot: process.Self().Boot}
	if !durable {
		var line WitnessLine
		w.Read(&line)
		now.Durable = witness.Parse(line[:]).Durable
	}
	return w.write(now.Append(nil), witness.Offset)
}

// Blank makes the witness say nothing about the sidecar. The caller holds the
// owner's lock.
func (w *Witness) Blank() error { return w.write(witness.AppendBlank(nil), witness.Offset) }

// Claimed notes that the claim with the given place and nonce was made and is on
// disk; with an empty nonce, that the field is free. It needs no lock.
func (w *Witness) Claimed(place int, nonce string) error {
	return w.write(witness.AppendClaim(nil, nonce), witness.SlotOffset(place))
}

func (w *Witness) write(line []byte, at int64) error {
	fd, err := w.open(dir.Writable)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	n, err := unix.Pwrite(fd, line, at)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return w.dir.state.Fail("write", w.path, err)
	}
	return nil
}
