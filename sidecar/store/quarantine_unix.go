//go:build unix

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Quarantine moves the file name out of the state directory into
// .freehold/quarantine, where nothing reads it. It moves whatever stands
// there, a link or a pipe too, and never replaces what was moved before.
// [unix.ENOENT] means that there was nothing.
//
// Of files that once were name it keeps the first, the last few, and the last
// for which intact is true, if intact is not nil; the same bytes once. What it
// has not read, it never removes: see [Quarantined]. Nobody else may be moving a
// file of the same name.
func (d *Store) Quarantine(name string, intact func(raw []byte) bool) (Quarantined, error) {
	return d.quarantine(d.state, name, intact)
}

// Keep puts a copy of what the file name holds, raw, into the quarantine, as
// [Store.Quarantine] does with the file itself.
func (d *Store) Keep(name string, raw []byte, intact func(raw []byte) bool) (Quarantined, error) {
	q, err := d.quarantineOf(name)
	if err != nil {
		return Quarantined{}, err
	}
	defer q.folder.close()
	kept := q.next(sumOf(raw))
	if err := q.folder.writeFile(kept, raw); err != nil {
		return Quarantined{}, err
	}
	return q.settle(kept, intact)
}

func (d *Store) quarantine(from *folder, name string, intact func([]byte) bool) (Quarantined, error) {
	q, err := d.quarantineOf(name)
	if err != nil {
		return Quarantined{}, err
	}
	defer q.folder.close()
	sum := unread
	if raw, err := from.readFile(name, nil, mostRead); err == nil {
		sum = sumOf(raw)
	}
	if sum == unread && q.count(unread) >= mostUnread {
		return Quarantined{}, fmt.Errorf("%s: nothing was moved: it holds %d things that once were %s and cannot be read; look at them and remove them", q.folder.path, mostUnread, name)
	}
	kept := q.next(sum)
	if err := unix.Renameat(from.fd, name, q.folder.fd, kept); err == unix.EBUSY {
		return Quarantined{}, from.fail("quarantine", name, fmt.Errorf("%w: something is mounted there: remove the mount", ErrIrregular))
	} else if err != nil {
		return Quarantined{}, from.fail("quarantine", name, err)
	}
	if err := q.folder.sync(); err != nil {
		return Quarantined{}, err
	}
	if err := from.sync(); err != nil {
		return Quarantined{}, err
	}
	return q.settle(kept, intact)
}

// Quarantined calls look with the path and the content of each file that once
// was the file name: those that upgrades kept, then the others, in the order in
// which they came. What cannot be read has nil for content.
func (d *Store) Quarantined(name string, look func(path string, raw []byte)) error {
	into, err := d.meta.openChild(quarantineName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer into.close()
	q := &quarantine{folder: into, name: name}
	if err := q.list(); err != nil {
		return err
	}
	for _, name := range append(q.copies, q.names()...) {
		raw, err := into.readFile(name, nil, mostRead)
		if err != nil {
			raw = nil
		}
		look(filepath.Join(into.path, name), raw)
	}
	return nil
}

func sumOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// A quarantine is the directory as far as it concerns one file name.
type quarantine struct {
	folder  *folder
	name    string
	entries []entry  // in the order in which they came
	copies  []string // what upgrades kept
	litter  []string
}

// names returns the names of the entries.
func (q *quarantine) names() (names []string) {
	for _, e := range q.entries {
		names = append(names, e.name)
	}
	return names
}

// An entry is one file that was moved or copied here.
type entry struct {
	name   string
	number int
	sum    string
}

func (d *Store) quarantineOf(name string) (*quarantine, error) {
	into, err := d.openQuarantine()
	if err != nil {
		return nil, err
	}
	q := &quarantine{folder: into, name: name}
	if err := q.list(); err != nil {
		into.close()
		return nil, err
	}
	return q, nil
}

// openQuarantine opens the quarantine, which it makes if there is none. Before
// anything in it counts as kept, it has to survive power loss itself.
func (d *Store) openQuarantine() (*folder, error) {
	err := d.meta.mkdir(quarantineName)
	if err == nil {
		err = d.meta.sync()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.meta.openChild(quarantineName)
}

// list finds the entries, and what a killed [Store.Keep] left.
func (q *quarantine) list() error {
	names, err := q.folder.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "."+q.name+".") {
			q.litter = append(q.litter, name)
		}
		if _, ok := nonceAfter(q.name+".", name); ok && len(q.copies) < mostKept {
			q.copies = append(q.copies, name)
		}
		if number, sum, ok := parseEntry(name, q.name); ok {
			q.entries = append(q.entries, entry{name, number, sum})
		}
	}
	slices.SortFunc(q.entries, func(a, b entry) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return strings.Compare(a.name, b.name)
	})
	return nil
}

// next returns the name of the entry to come. The number keeps two of them
// apart, so that a plain rename, which every system has, replaces nothing.
func (q *quarantine) next(sum string) string {
	number := 1
	if n := len(q.entries); n > 0 {
		number = q.entries[n-1].number + 1
	}
	return entryName(q.name, number, sum)
}

func (q *quarantine) count(sum string) (n int) {
	for _, e := range q.entries {
		if e.sum == sum {
			n++
		}
	}
	return n
}

// settle makes the new entry's name durable and then removes what is too much.
func (q *quarantine) settle(kept string, intact func([]byte) bool) (Quarantined, error) {
	number, sum, _ := parseEntry(kept, q.name)
	pending := Quarantined{KeptFile: KeptFile{Path: filepath.Join(q.folder.path, kept)}}
	if sum != unread {
		pending.Sum = sum
	}
	if err := q.folder.sync(); err != nil {
		return pending, err
	}
	q.entries = append(q.entries, entry{kept, number, sum})
	for _, name := range q.litter {
		if info, err := q.folder.root.Lstat(name); err == nil && info.Mode().IsRegular() {
			_ = q.folder.root.Remove(name) // it is tried again the next time
		}
	}
	for _, e := range q.surplus(intact) {
		if err := unix.Unlinkat(q.folder.fd, e.name, 0); err != nil && err != unix.ENOENT {
			return pending, q.folder.fail("remove", e.name, err)
		}
		if e.sum != sum {
			pending.Dropped = append(pending.Dropped, KeptFile{filepath.Join(q.folder.path, e.name), e.sum})
		}
	}
	return pending, nil
}

// surplus returns the entries to remove: earlier ones of the last one's bytes,
// and the oldest ones that neither are the first nor hold the last intact
// version, as long as there are too many or too large ones. Every entry is
// read before, so that nothing goes that is not what its name says.
func (q *quarantine) surplus(intact func([]byte) bool) (gone []entry) {
	type candidate struct {
		entry
		size int
	}
	var candidates []candidate
	total, lastIntact, last := 0, -1, q.entries[len(q.entries)-1]
	for _, e := range q.entries {
		if e.sum == unread {
			continue
		}
		raw, err := q.folder.readFile(e.name, nil, mostRead)
		if err != nil || sumOf(raw) != e.sum {
			continue // somebody's else by now
		}
		if e.sum == last.sum && e.name != last.name {
			gone = append(gone, e)
			continue
		}
		if intact != nil && intact(raw) {
			lastIntact = len(candidates)
		}
		candidates = append(candidates, candidate{e, len(raw)})
		total += len(raw)
	}
	left := len(candidates)
	for i, c := range candidates {
		if left <= mostKept && total <= mostBytes {
			break
		}
		if i == 0 || i == lastIntact || i == len(candidates)-1 {
			continue
		}
		gone = append(gone, c.entry)
		left--
		total -= c.size
	}
	return gone
}
