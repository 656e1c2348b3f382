package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Lease is what .freehold/<owner>.lease.json says: who holds the lease of an
// exclusive owner, and who was retired. It is for people and for [Prepare].
// Nothing in it gives anybody the right to write, which the kernel's lock
// alone does, and a forged or damaged one stops nobody.
type Lease struct {
	// Format is [LeaseFormat].
	Format int `json:"format"`
	// Owner and State say whose lease it is.
	Owner string `json:"owner"`
	State string `json:"state"`
	// Epoch of the last process that took the lease, also when that is gone.
	Epoch uint64 `json:"epoch"`
	// Holder is the process that took it, until it gives it back.
	Holder *Holder `json:"holder,omitempty"`
	// Retired lists the last processes that were retired, newest last.
	Retired []Retiree `json:"retired,omitempty"`
	// Unknown keeps the members that a newer release wrote.
	Unknown jsontext.Value `json:",embed"`
}

// LeaseFormat is the format number that this release writes and reads.
const LeaseFormat = 1

// A Holder is a process that holds a lease, in its own words.
type Holder struct {
	Identity process.Identity `json:"identity"`
	// Program is the name that it goes by.
	Program string `json:"program"`
	// Since is when it took the lease, by its clock.
	Since time.Time `json:"since"`
	// Invocation is systemd's id of this start of the service, if there is one.
	Invocation string `json:"invocation,omitempty"`
}

// A Retiree is a process that was retired, or was found gone.
type Retiree struct {
	Epoch    uint64           `json:"epoch"`
	Identity process.Identity `json:"identity"`
	At       time.Time        `json:"at"`
	Outcome  string           `json:"outcome"`
	// By is the program that retired it.
	By      string         `json:"by,omitempty"`
	Unknown jsontext.Value `json:",embed"`
}

const (
	// maxLease bounds what is read of a record that anybody may have written.
	maxLease = 64 << 10
	// mostOfLease bounds its names and values.
	mostOfLease = 512
	// mostRetired bounds how many retirements a record remembers.
	mostRetired = 8
)

var leaseLimits = schema.Limits{Depth: 16, Values: mostOfLease, Text: 4 << 10}

// ErrLeaseRecord is wrapped by the error that says that the record of a lease
// is damaged. It stops nothing: see [Lease].
var ErrLeaseRecord = store.DamagedRecord

// readLease reads the record of owner's lease. Without a record the lease is
// nil. A damaged one is an error that wraps ErrLeaseRecord, together with what
// could be read of its epoch; any other error says that the file could not be
// read now, which says nothing about it.
func readLease(d *store.Store, owner, state string) (*Lease, error) {
	name := store.OwnerRecord(owner)
	raw, err := d.ReadRecord(name, nil, maxLease)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, store.ErrIrregular), errors.Is(err, store.ErrTooLarge), errors.Is(err, fs.ErrPermission):
		return new(Lease), fmt.Errorf("%w: %w", ErrLeaseRecord, err)
	case err != nil:
		return nil, err
	}
	lease := new(Lease)
	if err = leaseLimits.Check(raw); err != nil {
		return lease, fmt.Errorf("%s: %w: %w", filepath.Join(d.Path(), ".freehold", name), ErrLeaseRecord, err)
	}
	if err = json.Unmarshal(raw, lease); err == nil {
		err = lease.sound(owner, state)
	}
	if err != nil {
		var head struct {
			Epoch uint64 `json:"epoch"`
		}
		_ = json.Unmarshal(raw, &head) // as far as it goes
		return &Lease{Epoch: head.Epoch}, fmt.Errorf("%s: %w: %w", filepath.Join(d.Path(), ".freehold", name), ErrLeaseRecord, err)
	}
	return lease, nil
}

// sound says why l cannot be the record of owner's lease.
func (l *Lease) sound(owner, state string) error {
	switch {
	case l.Format != LeaseFormat:
		return fmt.Errorf("it has format %d and this release reads format %d", l.Format, LeaseFormat)
	case l.Owner != owner:
		return fmt.Errorf("it is the record of owner %.80q", l.Owner)
	case l.State != state:
		return fmt.Errorf("it belongs to the state with the id %.80q, this one is %q", l.State, state)
	case l.Epoch >= document.MaxEpoch:
		return fmt.Errorf("no clock ever led to the epoch %d", l.Epoch)
	case l.Holder != nil && l.Holder.Identity.PID <= 0:
		return fmt.Errorf("its holder has the process id %d", l.Holder.Identity.PID)
	}
	return nil
}

// readRecord returns the record of owner's lease for a change of it, or a new
// one. A damaged record is moved to the quarantine, which notice is told, and
// is no obstacle. The caller holds the owner's lock.
func readRecord(d *store.Store, owner, state string, notice func(error)) (*Lease, error) {
	lease, err := readLease(d, owner, state)
	fresh := &Lease{Format: LeaseFormat, Owner: owner, State: state}
	if errors.Is(err, ErrLeaseRecord) {
		kept, moveErr := d.QuarantineRecord(store.OwnerRecord(owner))
		if moveErr != nil {
			return nil, errors.Join(err, moveErr)
		}
		if notice != nil {
			notice(fmt.Errorf("%w: it was moved to %s and is written anew: nothing to do", err, kept.Path))
		}
		if lease.Epoch < document.MaxEpoch {
			fresh.Epoch = lease.Epoch
		}
		return fresh, nil
	}
	if err == nil && lease == nil {
		return fresh, nil
	}
	return lease, err
}

// write makes l the record, durably, and returns its bytes. The caller holds
// the owner's lock.
func (l *Lease) write(d *store.Store) ([]byte, error) {
	raw, err := json.Marshal(l, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	raw = append(raw, '\n')
	return raw, d.WriteRecord(store.OwnerRecord(l.Owner), raw)
}

// epochs returns the epochs that the record says have begun. Of a process that
// was found gone, whoever looked for it may have got the epoch wrong.
func (l *Lease) epochs() []uint64 {
	epochs := []uint64{l.Epoch}
	for _, r := range l.Retired {
		if r.Outcome == Retired.String() {
			epochs = append(epochs, r.Epoch)
		}
	}
	return epochs
}

// heldBy reports whether the record names the process as the holder in epoch.
func (l *Lease) heldBy(id process.Identity, epoch uint64) bool {
	return l != nil && l.Holder != nil && l.Epoch == epoch && l.Holder.Identity.Same(id)
}

// retire takes the holder out, whoever it is, since nobody holds the lease,
// and remembers who was retired. Doing so twice is harmless.
func (l *Lease) retire(r Retiree) {
	l.Holder = nil
	for _, before := range l.Retired {
		if before.Epoch == r.Epoch && before.Identity.Same(r.Identity) {
			return
		}
	}
	l.Retired = append(l.Retired, r)
	l.Retired = l.Retired[max(0, len(l.Retired)-mostRetired):]
}
