// Package lease reads and writes the record of the lease of an exclusive owner,
// and opens its locks. Only the kernel's lock gives the right to write.
package lease

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Record is the content of .freehold/<owner>.lease.json: the process that
// holds the lease, and those that were retired. A forged or damaged record
// stops no process.
type Record struct {
	// Format is [Format].
	Format int `json:"format"`
	// Owner and State of the lease.
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

// Format is the format number that this release writes and reads.
const Format = 1

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

// OutcomeRetired is the outcome of a process that was asked to end and ended.
const OutcomeRetired = "retired"

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
	// MaxSize bounds the bytes that are read of a record.
	MaxSize = 64 << 10
	// mostOfLease bounds its names and values.
	mostOfLease = 512
	// mostRetired bounds how many retirements a record remembers.
	mostRetired = 8
)

var leaseLimits = schema.Limits{Depth: 16, Values: mostOfLease, Text: 4 << 10}

// ErrRecord is wrapped by the error of a damaged record, which stops no
// process.
var ErrRecord = status.Damaged

// Read reads the record of owner's lease, nil without one. A damaged record is
// an error that wraps [ErrRecord], beside the epoch that could be read.
func Read(d *statedir.Dir, owner, state string) (*Record, error) {
	name := statedir.OwnerRecord(owner)
	raw, err := d.ReadRecord(name, nil, MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, statedir.ErrIrregular), errors.Is(err, statedir.ErrTooLarge), errors.Is(err, fs.ErrPermission):
		return new(Record), fmt.Errorf("%w: %w", ErrRecord, err)
	case err != nil:
		return nil, err
	}
	lease := new(Record)
	if err = leaseLimits.Check(raw); err != nil {
		return lease, fmt.Errorf("%s: %w: %w", filepath.Join(d.Path(), ".freehold", name), ErrRecord, err)
	}
	if err = json.Unmarshal(raw, lease); err == nil {
		err = lease.sound(owner, state)
	}
	if err != nil {
		var head struct {
			Epoch uint64 `json:"epoch"`
		}
		_ = json.Unmarshal(raw, &head) // as far as it goes
		return &Record{Epoch: head.Epoch}, fmt.Errorf("%s: %w: %w", filepath.Join(d.Path(), ".freehold", name), ErrRecord, err)
	}
	return lease, nil
}

// sound says why l cannot be the record of owner's lease.
func (l *Record) sound(owner, state string) error {
	switch {
	case l.Format != Format:
		return fmt.Errorf("it has format %d and this release reads format %d", l.Format, Format)
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

// ReadForChange returns the record of owner's lease, or a new one. It moves a
// damaged record to the quarantine and calls notice. The caller holds the
// owner's lock.
func ReadForChange(d *statedir.Dir, owner, state string, notice func(error)) (*Record, error) {
	lease, err := Read(d, owner, state)
	fresh := &Record{Format: Format, Owner: owner, State: state}
	if errors.Is(err, ErrRecord) {
		kept, moveErr := d.Quarantine().MoveRecord(statedir.OwnerRecord(owner))
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

// Write makes l the record, durably, and returns its bytes. The caller holds
// the owner's lock.
func (l *Record) Write(d *statedir.Dir) ([]byte, error) {
	raw, err := json.Marshal(l, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	raw = append(raw, '\n')
	return raw, d.WriteRecord(statedir.OwnerRecord(l.Owner), raw)
}

// Epochs returns the epochs that have begun. For a process that was found gone,
// the epoch may be wrong.
func (l *Record) Epochs() []uint64 {
	epochs := []uint64{l.Epoch}
	for _, r := range l.Retired {
		if r.Outcome == OutcomeRetired {
			epochs = append(epochs, r.Epoch)
		}
	}
	return epochs
}

// Retire takes the holder out of the record and notes the retired process. A
// second Retire changes nothing.
func (l *Record) Retire(r Retiree) {
	l.Holder = nil
	for _, before := range l.Retired {
		if before.Epoch == r.Epoch && before.Identity.Same(r.Identity) {
			return
		}
	}
	l.Retired = append(l.Retired, r)
	l.Retired = l.Retired[max(0, len(l.Retired)-mostRetired):]
}

// Supersedes reports whether the record is of a later lease than the one of
// epoch that h holds.
func (l *Record) Supersedes(epoch uint64, h *Holder) bool {
	if l == nil || l.Epoch != epoch {
		return l != nil && l.Epoch > epoch
	}
	return l.Holder != nil && l.Holder.Identity.Nonce != h.Identity.Nonce
}

// A Holding is a process and the epoch that it began with a lease. Zero values,
// which are unknown, equal any.
type Holding struct {
	Epoch  uint64 `json:"epoch,omitzero"`
	Holder Holder `json:"holder"`
}

// String returns "process PID of epoch EPOCH".
func (h Holding) String() string {
	if h.Epoch == 0 {
		return fmt.Sprintf("process %d", h.Holder.Identity.PID)
	}
	return fmt.Sprintf("process %d of epoch %d", h.Holder.Identity.PID, h.Epoch)
}

// A Holding is a process and the epoch that it began with a lease. Zero values,
// which are unknown, equal any.
func (l *Record) Holding() Holding {
	if l == nil || l.Holder == nil {
		return Holding{}
	}
	return Holding{l.Epoch, *l.Holder}
}

// Is reports whether both can be the same process in the same epoch.
func (h Holding) Is(other Holding) bool {
	return h.Holder.Identity.Same(other.Holder.Identity) && (h.Epoch == 0 || h.Epoch == other.Epoch)
}
