package statedir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/claims"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/freehold-dev/freehold/sidecar/internal/witness"
	"golang.org/x/sys/unix"
)

const (
	manifestName = "manifest.json"
	stateLock    = "state.lock"
	// stateWait bounds the wait for a process that upgrades or repairs the state,
	// which takes milliseconds.
	stateWait = 5 * time.Second
)

// deferring lists the owners with a directory of pending patches.
func deferring(d *schema.Declaration) []string {
	return slices.DeleteFunc(d.OwnerNames(), func(owner string) bool { return !d.Owners[owner].Defers() })
}

// ManifestText reads the manifest's bytes into buf, growing it if needed.
func (d *Dir) ManifestText(buf []byte) ([]byte, error) {
	text, err := d.meta.ReadFile(manifestName, buf, schema.MaxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.Unmoved(); err != nil { // removed as a whole, and nothing to restore
			return nil, err
		}
		switch g, lost := d.gathering(); {
		case lost == nil:
			return nil, fault(status.Instances, d.Path(), byHand("name the instance"), fmt.Errorf("the state %s has an instance per %s", g.State, g.By))
		case !errors.Is(lost, status.NoInstances):
			return nil, lost
		}
	}
	if err != nil {
		s := status.Unreadable
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrTooLarge) {
			s = status.Invalid
		}
		return nil, fault(s, d.meta.Join(manifestName), AccessRemedy(err, byHand("restore .freehold from a backup, or repair the state with its owners.yaml")), fmt.Errorf("%w: %w", ErrInvalidManifest, err))
	}
	return text, nil
}

// Manifest reads the state's manifest.
func (d *Dir) Manifest() (*schema.Manifest, error) {
	text, err := d.ManifestText(nil)
	if err != nil {
		return nil, wholeBeside(d, err)
	}
	m, err := d.ParseManifest(text)
	if err != nil {
		return nil, wholeBeside(d, err)
	}
	m.Text = text
	return m, nil
}

// wholeBeside adds to the error of a damaged manifest a whole one that a killed
// process left beside it, and the remedy that puts that in its place.
func wholeBeside(d *Dir, err error) error {
	if !errors.Is(err, status.Invalid) {
		return err
	}
	staged, _ := stagedFor(d.meta, manifestName)
	for _, name := range staged {
		text, unread := d.meta.ReadFile(name, nil, schema.MaxManifest)
		if unread != nil {
			continue
		}
		if m, lost := schema.ParseManifest(text); lost == nil && d.owned(m) == nil {
			put := status.Remedy{Tool: []string{"mv", "--", d.meta.Join(name), d.meta.Join(manifestName)}, Note: "put the whole one in its place"}
			return status.With(fmt.Errorf("%w; a whole one is beside it: %w", err, errWholeManifest), put)
		}
	}
	return err
}

var errWholeManifest = errors.New("a killed process left it")

// ParseManifest is [schema.ParseManifest] with the file's name in its errors.
// It returns an error that wraps [status.Misplaced] if the manifest is another
// instance's.
func (d *Dir) ParseManifest(text []byte) (*schema.Manifest, error) {
	m, err := schema.ParseManifest(text)
	if newer, ok := errors.AsType[*schema.FormatError](err); ok {
		return nil, fault(status.Newer, d.meta.Join(manifestName), byHand(UseNewer), fmt.Errorf("%w: %w", ErrInvalidManifest, newer))
	}
	if err != nil {
		return nil, fault(status.Invalid, d.meta.Join(manifestName), byHand("restore it from a backup, or repair the state with its owners.yaml"), fmt.Errorf("%w: %w", ErrInvalidManifest, err))
	}
	return m, d.owned(m)
}

// Upgrade returns the manifest for a program built from the declaration built.
// The manifest grows by the rest of built, its module included, under the state's
// lock, for which Upgrade waits up to wait. A module that cannot be added stops
// nothing: the next Upgrade tries again. The error wraps [schema.ErrDeclaration] if the two contradict each other, and
// [schema.ErrUnsound] if no owners.yaml makes built.
func (d *Dir) Upgrade(ctx context.Context, built *schema.Declaration, wait time.Duration) (*schema.Manifest, error) {
	m, err := d.Settled(ctx, wait)
	if err != nil {
		return nil, err
	}
	_, more, err := m.Merge(built)
	if err != nil {
		return m, contradiction(d, err)
	}
	if known := *m; !more && !known.AddModule(built.Module) {
		return m, nil
	}
	if err := built.Sound(); err != nil {
		return nil, status.With(fmt.Errorf("%s: the manifest was not changed: %w", d.Path(), err), byHand("generate the program anew from its owners.yaml"))
	}
	now, release, err := d.lockState(ctx, min(wait, stateWait))
	switch {
	case err != nil && !more:
		return m, nil
	case errors.Is(err, status.Busy): // of many programs that bring the same, one does the work
		if now, lost := d.Manifest(); lost == nil && now.Pending == nil {
			if _, more, clash := now.Merge(built); clash == nil && !more {
				return now, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	defer release()
	merged, more, err := now.Merge(built)
	if err != nil {
		return now, contradiction(d, err)
	}
	if added := now.AddModule(built.Module); !more {
		if added && d.WriteManifest(now) != nil {
			return m, nil
		}
		return now, nil
	}
	// A directory that was lost is not made anew: its patches are missing.
	for _, owner := range deferring(&now.Declaration) {
		a, err := d.OpenPending(now, owner)
		if err != nil {
			return nil, err
		}
		a.Close()
	}
	now.Declaration = *merged
	return now, d.WriteManifest(now)
}

// Settled is [Dir.Manifest], once no upgrade is under way. It returns an error
// that wraps [schema.ErrDeclaration] if one was not finished.
func (d *Dir) Settled(ctx context.Context, wait time.Duration) (*schema.Manifest, error) {
	m, err := d.Manifest()
	if err != nil || m.Pending == nil {
		return m, err
	}
	m, release, err := d.lockState(ctx, min(wait, stateWait))
	if err != nil {
		return nil, err
	}
	defer release()
	return m, settled(d, m)
}

// settled returns an error if an upgrade is not finished.
func settled(d *Dir, m *schema.Manifest) error {
	if m.Pending == nil {
		return nil
	}
	return fault(status.Declaration, d.Path(), status.By(status.Upgrade), fmt.Errorf("%w: an upgrade of the state was begun and not finished", schema.ErrDeclaration))
}

// Still returns an error unless a program built from built, which opened the
// state under the manifest opened, may go on under the manifest now.
func (d *Dir) Still(opened, now *schema.Manifest, built *schema.Declaration) error {
	if err := settled(d, now); err != nil {
		return err
	}
	if opened.StateID != now.StateID {
		return fault(status.Moved, d.Path(), byHand("open it again"), errors.New("another state was put in its place"))
	}
	_, more, err := now.Merge(built)
	if err == nil && more {
		err = fmt.Errorf("%w: the manifest has lost a part of its declaration", schema.ErrDeclaration)
	}
	return contradiction(d, err)
}

func contradiction(d *Dir, err error) error {
	if err == nil {
		return nil
	}
	return fault(status.Declaration, d.Path(), status.By(status.Upgrade).Or("build the program from the present owners.yaml if it is the older one"), err)
}

// WriteManifest makes the missing lock files and directories of m's
// declaration, then replaces the manifest. The caller holds the state's lock.
func (d *Dir) WriteManifest(m *schema.Manifest) error {
	for _, name := range lockNames(&m.Declaration) {
		if _, ok := m.Locks[name]; ok {
			continue
		}
		ino, id, err := makeLock(d.meta, name)
		if err != nil {
			return err
		}
		m.Locks[name] = ino
		identified(m, name, id)
	}
	if err := makeClaims(d, m); err != nil {
		return err
	}
	for _, owner := range deferring(&m.Declaration) {
		name := OwnerPending(owner)
		id, err := makePending(d.meta, name)
		if err != nil {
			return err
		}
		identified(m, name, id)
	}
	text, err := m.Marshal()
	if err != nil {
		return fault(status.Declaration, filepath.Join(d.Path(), metaName, manifestName), byHand("divide the state into several"), fmt.Errorf("%w: %w", ErrTooLarge, err))
	}
	m.Text = text
	return d.WriteRecord(manifestName, text)
}

// identified notes the id of a lock file or directory of m, unless the present
// one has none.
func identified(m *schema.Manifest, name, id string) {
	if id == "" || m.IDs[name] == id {
		return
	}
	m.IDs = maps.Clone(m.IDs)
	if m.IDs == nil {
		m.IDs = map[string]string{}
	}
	m.IDs[name] = id
}

// makeLock makes the lock file name with a new id, or takes the one that a killed
// upgrade left, which no process can have locked.
func makeLock(f *dir.Dir, name string) (ino uint64, id string, err error) {
	fd, err := unix.Openat(f.FD(), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, fs.ErrExist) {
		fd, err = dir.OpenFor(f, name, dir.Writable)
	}
	if err != nil {
		return 0, "", f.Fail("create", name, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fchmod(fd, 0o600); err != nil {
		return 0, "", f.Fail("chmod", name, err)
	}
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, "", f.Fail("stat", name, err)
	}
	if err := f.Plain(name, &st); err != nil {
		return 0, "", err
	}
	id = process.NewNonce()
	if _, err := unix.Pwrite(fd, witness.AppendID(nil, id), 0); err != nil {
		return 0, "", f.Fail("write", name, err)
	}
	if err := unix.Fsync(fd); err != nil { // else power loss could take the id
		return 0, "", f.Fail("sync", name, err)
	}
	return st.Ino, id, nil
}

// A Claim is the file of a once field.
type Claim = claims.Claim

// Claim returns the claim of a field.
func (d *Dir) Claim(m *schema.Manifest, owner, field string) *Claim {
	return claims.New(d.state, claimDir(owner), m.Claims[owner], m.IDs[claimsName+"/"+owner], field)
}

// makeClaims makes the missing directories of claims of m's declaration. One
// that m knows is not made anew: its claims would be open again.
func makeClaims(d *Dir, m *schema.Manifest) error {
	for _, owner := range m.Declaration.OwnerNames() {
		if _, ok := m.Claims[owner]; ok || !m.Declaration.Owners[owner].Claims() {
			continue
		}
		ino, id, err := claims.MakeDir(d.meta, claimsName, owner)
		if err != nil {
			return err
		}
		identified(m, claimsName+"/"+owner, id)
		if m.Claims == nil {
			m.Claims = map[string]uint64{}
		}
		m.Claims[owner] = ino
	}
	return nil
}

// lostClaims returns the owners with a lost directory of claims.
func lostClaims(d *Dir, m *schema.Manifest) (owners []string) {
	for _, owner := range m.Declaration.OwnerNames() {
		if m.Declaration.Owners[owner].Claims() && errors.Is(d.Claim(m, owner, "").Check(), status.Lost) {
			owners = append(owners, owner)
		}
	}
	return owners
}
