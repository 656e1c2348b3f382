package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

const (
	quarantineName = "quarantine"
	maxQuarantined = 16       // files of one name that the quarantine keeps
	maxRead        = 1 << 20  // bytes; a larger file is moved unread
	maxNumber      = 1 << 30  // of an entry; a foreign file may have more
	maxReason      = 64 << 10 // bytes of the text about a rejected patch
	unread         = "unread" // the sum in the name of an entry that was not read
)

// A KeptFile is one in the quarantine.
type KeptFile struct {
	Path string `json:"path"`
	// Sum is the SHA-256 of its bytes in hexadecimal digits; empty for a file
	// that is not plain, cannot be read, or has more than 1 MiB.
	Sum string `json:"sha256,omitzero"`
}

// A Quarantined says where a file was moved, and which older ones were removed
// to make room.
type Quarantined struct {
	KeptFile
	// Dropped lists the removed files, oldest first, except those with the
	// same bytes as the new one.
	Dropped []KeptFile `json:"dropped,omitempty"`
}

// A Quarantine is the directory .freehold/quarantine, which is made when needed.
type Quarantine struct{ state, meta *dir.Dir }

// Quarantine returns the directory's quarantine.
func (d *Dir) Quarantine() Quarantine { return Quarantine{d.state, d.meta} }

// Move moves the file name to the quarantine. It never replaces an entry, and
// keeps the newest 16 of each name, the same bytes once. No two calls may move
// files of one name at a time.
func (q Quarantine) Move(name string) (Quarantined, error) { return q.move(q.state, name) }

// MoveRecord is [Quarantine.Move] for a file in .freehold.
func (q Quarantine) MoveRecord(name string) (Quarantined, error) { return q.move(q.meta, name) }

func (q Quarantine) move(from *dir.Dir, name string) (Quarantined, error) {
	sum := unread
	if raw, err := from.ReadFile(name, nil, maxRead); err == nil {
		sum = sumOf(raw)
	}
	return q.keep(name, sum, func(to *dir.Dir, entry string) error {
		switch err := unix.Renameat(from.FD(), name, to.FD(), entry); err {
		case nil:
			return errors.Join(to.Sync(), from.Sync())
		case unix.EBUSY:
			return status.With(from.Fail("quarantine", name, fmt.Errorf("%w: a file system is mounted there", ErrIrregular)), dir.Unmount(from.Join(name), byHand("remove the mount")))
		default:
			return from.Fail("quarantine", name, err)
		}
	})
}

// Keep puts a copy of the file name into the quarantine, as Move does.
func (q Quarantine) Keep(name string, raw []byte) (Quarantined, error) {
	return q.keep(name, sumOf(raw), func(to *dir.Dir, entry string) error { return to.CreateExclusive(entry, raw) })
}

// keep puts a new entry of the file name into the quarantine and makes room.
// The number of the entry is new, so that a plain rename replaces nothing.
func (q Quarantine) keep(name, sum string, put func(to *dir.Dir, entry string) error) (Quarantined, error) {
	to, err := q.make()
	if err != nil {
		return Quarantined{}, err
	}
	defer to.Close()
	older, _, err := entriesOf(to, name)
	if err != nil {
		return Quarantined{}, err
	}
	number := 1
	if n := len(older); n > 0 {
		number = older[n-1].number + 1
	}
	kept := newEntry(name, number, sum)
	if err := put(to, kept.name); err != nil {
		return Quarantined{}, err
	}
	done := Quarantined{KeptFile: kept.in(to)}
	if err := to.Sync(); err != nil {
		return done, err
	}
	done.Dropped, err = makeRoom(to, older, sum)
	return done, err
}

// makeRoom removes the older entries with the sum, and all but the newest,
// which it returns.
func makeRoom(q *dir.Dir, older []entry, sum string) (dropped []KeptFile, err error) {
	older = slices.DeleteFunc(older, func(e entry) bool {
		return e.sum == sum && sum != unread && unix.Unlinkat(q.FD(), e.name, 0) == nil
	})
	for _, e := range older[:max(0, len(older)+1-maxQuarantined)] {
		switch err := unix.Unlinkat(q.FD(), e.name, 0); err {
		case nil:
			dropped = append(dropped, e.in(q))
		case unix.ENOENT, unix.EISDIR, unix.EPERM: // a directory stays
		default:
			return dropped, q.Fail("remove", e.name, err)
		}
	}
	return dropped, nil
}

// Each calls look with each entry of the file name: copies of upgrades first,
// then the others, oldest first. raw is nil for an unreadable one.
func (q Quarantine) Each(name string, look func(path string, raw []byte)) error {
	in, err := q.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	all, names, err := entriesOf(in, name)
	for _, e := range all {
		names = append(names, e.name)
	}
	for _, name := range names {
		raw, err := in.ReadFile(name, nil, maxRead)
		if err != nil {
			raw = nil
		}
		look(in.Join(name), raw)
	}
	return err
}

// Path returns the path of the file name in the quarantine.
func (q Quarantine) Path(name string) string { return q.meta.Join(filepath.Join(quarantineName, name)) }

func (q Quarantine) open() (*dir.Dir, error) { return q.meta.OpenChild(quarantineName) }

// make opens the quarantine, or makes it durably.
func (q Quarantine) make() (*dir.Dir, error) {
	err := q.meta.Mkdir(quarantineName)
	if err == nil {
		err = q.meta.Sync()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return q.open()
}

// Drop moves the file name to the quarantine as kept. A file that is gone is no
// error.
func (q Quarantine) Drop(name, kept string) error {
	into, err := q.make()
	if err != nil {
		return err
	}
	defer into.Close()
	if err := unix.Renameat(q.state.FD(), name, into.FD(), kept); err != nil && err != unix.ENOENT {
		return q.state.Fail("quarantine", name, err)
	}
	if err := into.Sync(); err != nil {
		return err
	}
	return q.state.Sync()
}

// An entry is one file that was moved or copied into the quarantine.
type entry struct {
	name   string
	number int
	sum    string
}

func sumOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// newEntry returns the entry of the file called of.
func newEntry(of string, number int, sum string) entry {
	return entry{fmt.Sprintf("%s.%06d.%s", of, number, sum), number, sum}
}

// parseEntry takes the name of an entry apart.
func parseEntry(name, of string) (entry, bool) {
	rest, ok := strings.CutPrefix(name, of+".")
	digits, sum, dotted := strings.Cut(rest, ".")
	if !ok || !dotted || sum != unread && (len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "") {
		return entry{}, false
	}
	number, err := strconv.Atoi(digits)
	e := newEntry(of, number, sum)
	return e, err == nil && number < maxNumber && e.name == name
}

func (e entry) in(q *dir.Dir) KeptFile {
	if e.sum == unread {
		return KeptFile{Path: q.Join(e.name)}
	}
	return KeptFile{q.Join(e.name), e.sum}
}

// entriesOf lists the entries of the file called of, oldest first, and the
// copies of upgrades.
func entriesOf(q *dir.Dir, of string) (all []entry, copies []string, err error) {
	names, err := q.Names()
	for _, name := range names {
		if e, ok := parseEntry(name, of); ok {
			all = append(all, e)
		} else if _, ok := nonceAfter(of+".", name); ok && len(copies) < maxQuarantined {
			copies = append(copies, name)
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return strings.Compare(a.name, b.name)
	})
	return all, copies, err
}

// Reject keeps a pending patch that was not folded, and the reason, in the
// quarantine, durably and for good, and returns its path. A second call changes
// nothing.
func (q Quarantine) Reject(name string, raw []byte, why string) (string, error) {
	to, err := q.make()
	if err != nil {
		return "", err
	}
	defer to.Close()
	for file, text := range map[string][]byte{name: raw, name + ".why": []byte(why + "\n")} {
		if err := to.CreateExclusive(file, text); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return to.Join(name), to.Sync()
}

// Rejected returns the number of kept patches from the directory called
// pending.
func (q Quarantine) Rejected(pending string) (kept int, err error) {
	in, err := q.open()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	names, err := in.Names()
	for _, name := range names {
		if strings.HasPrefix(name, pending+".") && !strings.HasSuffix(name, ".why") {
			kept++
		}
	}
	return kept, err
}

// Reason returns the reason for which [Quarantine.Reject] kept name.
func (q Quarantine) Reason(name string) (why string, err error) {
	in, err := q.open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	text, err := in.ReadFile(name+".why", nil, maxReason)
	return strings.TrimSuffix(string(text), "\n"), err
}
