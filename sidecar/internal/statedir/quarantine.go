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

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

const quarantineName = "quarantine"

const (
	// maxQuarantined is how many files of one name the quarantine keeps.
	maxQuarantined = 16
	// maxRead is the largest file of which the quarantine knows the bytes; a
	// larger one is moved unread.
	maxRead = 1 << 20
	// maxNumber bounds the numbers of entries; a foreign file may have more.
	maxNumber = 1 << 30
	// maxReason bounds the text about a rejected patch.
	maxReason = 64 << 10
)

// A KeptFile is one in the quarantine.
type KeptFile struct {
	Path string
	// Sum is the SHA-256 of its bytes in hexadecimal digits. It is empty for
	// a file that is not plain, cannot be read, or has more than 1 MiB.
	Sum string
}

// A Quarantined says where a file was moved, and which older ones were removed
// to make room: a loop that quarantines must not fill the disk.
type Quarantined struct {
	KeptFile
	// Dropped lists the removed files, oldest first, except those with the
	// same bytes as the new one.
	Dropped []KeptFile
}

// Quarantine moves the file name out of the state directory into
// .freehold/quarantine, where nothing reads it: a plain file, a link, a pipe.
// It never replaces an entry, and keeps the newest 16 of each name, the same
// bytes once. It returns an error that wraps [fs.ErrNotExist] if there is no
// such file. No two calls may move files of one name at a time.
func (d *Dir) Quarantine(name string) (Quarantined, error) { return d.quarantine(d.state, name) }

// QuarantineRecord is [Dir.Quarantine] for a file in .freehold.
func (d *Dir) QuarantineRecord(name string) (Quarantined, error) {
	return d.quarantine(d.meta, name)
}

// Keep puts raw into the quarantine as a copy of the file name. It keeps as
// many as [Dir.Quarantine].
func (d *Dir) Keep(name string, raw []byte) (Quarantined, error) {
	q, err := d.openEntries(name)
	if err != nil {
		return Quarantined{}, err
	}
	defer q.Close()
	kept := q.next(sumOf(raw))
	if err := q.CreateExclusive(kept.name, raw); err != nil {
		return Quarantined{}, err
	}
	return q.settle(kept)
}

func (d *Dir) quarantine(from *folder, name string) (Quarantined, error) {
	q, err := d.openEntries(name)
	if err != nil {
		return Quarantined{}, err
	}
	defer q.Close()
	sum := unread
	if raw, err := from.ReadFile(name, nil, maxRead); err == nil {
		sum = sumOf(raw)
	}
	kept := q.next(sum)
	if err := unix.Renameat(from.FD(), name, q.FD(), kept.name); err == unix.EBUSY {
		return Quarantined{}, status.With(from.Fail("quarantine", name, fmt.Errorf("%w: a file system is mounted there", ErrIrregular)), byHand("remove the mount"))
	} else if err != nil {
		return Quarantined{}, from.Fail("quarantine", name, err)
	}
	if err := q.Sync(); err != nil {
		return Quarantined{}, err
	}
	if err := from.Sync(); err != nil {
		return Quarantined{}, err
	}
	return q.settle(kept)
}

// Quarantined calls look with the path and the content of each entry of the
// file name: copies of upgrades first, then the others, oldest first. raw is
// nil for an entry that cannot be read.
func (d *Dir) Quarantined(name string, look func(path string, raw []byte)) error {
	into, err := d.meta.openChild(quarantineName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer into.Close()
	q := &entries{folder: into, of: name}
	if err := q.list(); err != nil {
		return err
	}
	for _, name := range q.names() {
		raw, err := into.ReadFile(name, nil, maxRead)
		if err != nil {
			raw = nil
		}
		look(filepath.Join(into.Path(), name), raw)
	}
	return nil
}

// QuarantinePath returns the path of the file name in the quarantine.
func (d *Dir) QuarantinePath(name string) string {
	return filepath.Join(d.meta.Path(), quarantineName, name)
}

// openQuarantine opens the quarantine, and makes it if it is missing. It is
// synced before anything in it counts as kept.
func (d *Dir) openQuarantine() (*folder, error) {
	err := d.meta.Mkdir(quarantineName)
	if err == nil {
		err = d.meta.Sync()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.meta.openChild(quarantineName)
}

// entries is the quarantine as far as it concerns one file name.
type entries struct {
	*folder
	of     string
	all    []entry  // oldest first
	copies []string // kept by upgrades
}

// An entry is one file that was moved or copied into the quarantine.
type entry struct {
	name   string
	number int
	sum    string
}

// unread is the sum in the name of an entry that was not read.
const unread = "unread"

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

func (e entry) in(f *folder) KeptFile {
	kept := KeptFile{Path: filepath.Join(f.Path(), e.name), Sum: e.sum}
	if e.sum == unread {
		kept.Sum = ""
	}
	return kept
}

func (d *Dir) openEntries(name string) (*entries, error) {
	into, err := d.openQuarantine()
	if err != nil {
		return nil, err
	}
	q := &entries{folder: into, of: name}
	if err := q.list(); err != nil {
		into.Close()
		return nil, err
	}
	return q, nil
}

func (q *entries) list() error {
	names, err := q.folder.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if e, ok := parseEntry(name, q.of); ok {
			q.all = append(q.all, e)
		} else if _, ok := nonceAfter(q.of+".", name); ok && len(q.copies) < maxQuarantined {
			q.copies = append(q.copies, name)
		}
	}
	slices.SortFunc(q.all, func(a, b entry) int {
		if a.number != b.number {
			return a.number - b.number
		}
		return strings.Compare(a.name, b.name)
	})
	return nil
}

func (q *entries) names() []string {
	names := q.copies
	for _, e := range q.all {
		names = append(names, e.name)
	}
	return names
}

// next returns the entry to come. Its number is new, so that a plain rename,
// which every system has, replaces nothing.
func (q *entries) next(sum string) entry {
	number := 1
	if n := len(q.all); n > 0 {
		number = q.all[n-1].number + 1
	}
	return newEntry(q.of, number, sum)
}

// settle makes the name of the new entry durable, then removes entries with
// the same bytes and all but the newest.
func (q *entries) settle(kept entry) (Quarantined, error) {
	done := Quarantined{KeptFile: kept.in(q.folder)}
	if err := q.Sync(); err != nil {
		return done, err
	}
	older := slices.DeleteFunc(q.all, func(e entry) bool {
		same := e.sum == kept.sum && e.sum != unread
		return same && unix.Unlinkat(q.FD(), e.name, 0) == nil
	})
	for _, e := range older[:max(0, len(older)+1-maxQuarantined)] {
		switch err := unix.Unlinkat(q.FD(), e.name, 0); err {
		case nil:
			done.Dropped = append(done.Dropped, e.in(q.folder))
		case unix.ENOENT, unix.EISDIR, unix.EPERM: // a directory stays
		default:
			return done, q.Fail("remove", e.name, err)
		}
	}
	return done, nil
}

// Reject keeps a copy of a pending patch that was not folded, and why, in
// .freehold/quarantine, durably, and returns its path. Nothing removes it.
// A second call for the same name changes nothing.
func (d *Dir) Reject(name string, raw []byte, why string) (string, error) {
	into, err := d.openQuarantine()
	if err != nil {
		return "", err
	}
	defer into.Close()
	for file, text := range map[string][]byte{name: raw, name + ".why": []byte(why + "\n")} {
		if err := into.CreateExclusive(file, text); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return filepath.Join(into.Path(), name), into.Sync()
}

// Rejected returns how many rejected patches are kept of the directory of
// pending patches called pending.
func (d *Dir) Rejected(pending string) (int, error) {
	into, err := d.meta.openChild(quarantineName)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer into.Close()
	names, err := into.Names()
	kept := 0
	for _, name := range names {
		if strings.HasPrefix(name, pending+".") && !strings.HasSuffix(name, ".why") {
			kept++
		}
	}
	return kept, err
}

// Kept returns why [Dir.Reject] kept name, or an error that wraps
// [fs.ErrNotExist].
func (d *Dir) Kept(name string) (why string, err error) {
	into, err := d.meta.openChild(quarantineName)
	if err != nil {
		return "", err
	}
	defer into.Close()
	text, err := into.ReadFile(name+".why", nil, maxReason)
	return strings.TrimSuffix(string(text), "\n"), err
}
