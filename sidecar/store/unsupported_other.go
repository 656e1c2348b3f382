//go:build !unix

package store

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// A Store is an open state directory; none can be opened on this platform,
// where neither renames nor locks keep what this package promises.
type Store struct{}

// An Existing says what stands at a name that is about to be replaced.
type Existing struct {
	Mode fs.FileMode
	GID  int
}

// A Stamp says when names were last added to a directory or taken from it.
type Stamp struct{}

// A Lock is a kernel lock on one lock file of a state.
type Lock struct{}

// A Claim is the file of a once field.
type Claim struct{}

// An PendingDir is the directory of the pending patches.
type PendingDir struct{}

// A Draft is a patch that has no name yet.
type Draft struct{}

func (d *Draft) Put(string) error        { return ErrUnsupported }
func (d *Draft) Withdraw() (bool, error) { return false, ErrUnsupported }
func (d *Draft) Close() error            { return ErrUnsupported }

// Open returns [ErrUnsupported].
func Open(dir string) (*Store, error) { return nil, ErrUnsupported }

// Create returns [ErrUnsupported].
func Create(dir string, d *schema.Declaration) error { return ErrUnsupported }

// Find returns [ErrUnsupported].
func Find(start string) (string, error) { return "", ErrUnsupported }

// Repair returns [ErrUnsupported].
func Repair(ctx context.Context, dir string) ([]string, error) { return nil, ErrUnsupported }

func (d *Store) Close() error                                      { return ErrUnsupported }
func (d *Store) Path() string                                      { return "" }
func (d *Store) Root() *os.Root                                    { return nil }
func (d *Store) Sync() error                                       { return ErrUnsupported }
func (d *Store) Unmoved() error                                    { return ErrUnsupported }
func (d *Store) Stamp() (Stamp, error)                             { return Stamp{}, ErrUnsupported }
func (d *Store) Collect(string) error                              { return ErrUnsupported }
func (d *Store) QuarantineRecord(string) (Quarantined, error)      { return Quarantined{}, ErrUnsupported }
func (d *Store) Quarantined(string, func(string, []byte)) error    { return ErrUnsupported }
func (d *Store) Existing(string) (Existing, error)                 { return Existing{}, ErrUnsupported }
func (d *Store) Manifest() (*schema.Manifest, error)               { return nil, ErrUnsupported }
func (d *Store) ManifestText([]byte) ([]byte, error)               { return nil, ErrUnsupported }
func (d *Store) ReadFile(string, []byte, int) ([]byte, error)      { return nil, ErrUnsupported }
func (d *Store) ReadRecord(string, []byte, int) ([]byte, error)    { return nil, ErrUnsupported }
func (d *Store) WriteRecord(string, []byte) error                  { return ErrUnsupported }
func (d *Store) OpenLock(string, uint64) (*Lock, error)            { return nil, ErrUnsupported }
func (d *Store) ParseManifest([]byte) (*schema.Manifest, error)    { return nil, ErrUnsupported }
func (d *Store) Claim(string, string, uint64) *Claim               { return nil }
func (c *Claim) Path() string                                      { return "" }
func (c *Claim) Probe() error                                      { return ErrUnsupported }
func (c *Claim) Read([]byte) ([]byte, error)                       { return nil, ErrUnsupported }
func (c *Claim) Publish([]byte) (bool, error)                      { return false, ErrUnsupported }
func (c *Claim) Sync() error                                       { return ErrUnsupported }
func (d *Store) OpenPending(string) (*PendingDir, error)           { return nil, ErrUnsupported }
func (d *Store) Reject(string, []byte, string) (string, error)     { return "", ErrUnsupported }
func (d *Store) Rejected(string) (int, error)                      { return 0, ErrUnsupported }
func (d *Store) Kept(string) (string, error)                       { return "", ErrUnsupported }
func (a *PendingDir) Close() error                                 { return ErrUnsupported }
func (a *PendingDir) Share() error                                 { return ErrUnsupported }
func (a *PendingDir) Seal(context.Context, time.Duration) error    { return ErrUnsupported }
func (a *PendingDir) Unshare()                                     {}
func (a *PendingDir) Path(string) string                           { return "" }
func (a *PendingDir) Names() ([]string, error)                     { return nil, ErrUnsupported }
func (a *PendingDir) ReadFile(string, []byte, int) ([]byte, error) { return nil, ErrUnsupported }
func (a *PendingDir) Sizes([]string, map[string]int64) (map[string]int64, int64, error) {
	return nil, 0, ErrUnsupported
}
func (a *PendingDir) Draft([]byte) (*Draft, error)           { return nil, ErrUnsupported }
func (a *PendingDir) Free(string) (bool, error)              { return false, ErrUnsupported }
func (a *PendingDir) Remove(string) error                    { return ErrUnsupported }
func (a *PendingDir) RemoveAll([]string) error               { return ErrUnsupported }
func (a *PendingDir) Sync() error                            { return ErrUnsupported }
func (a *PendingDir) Unmoved() error                         { return ErrUnsupported }
func (l *Lock) Acquire(context.Context, time.Duration) error { return ErrUnsupported }
func (l *Lock) Try() (bool, error)                           { return false, ErrUnsupported }
func (l *Lock) TryShared() (bool, error)                     { return false, ErrUnsupported }
func (l *Lock) Busy() error                                  { return ErrUnsupported }
func (l *Lock) Holder() int                                  { return 0 }
func (l *Lock) Keeper() int                                  { return 0 }
func (l *Lock) Heir() int                                    { return 0 }
func (l *Lock) Release() error                               { return ErrUnsupported }
func (l *Lock) Held() error                                  { return ErrUnsupported }
func (l *Lock) Kept() error                                  { return ErrUnsupported }
func (l *Lock) File() *os.File                               { return nil }
func (l *Lock) Close() error                                 { return ErrUnsupported }

func (d *Store) Same(name string, known, spare []byte) (bool, []byte)     { return false, spare }
func (d *Store) SameManifest(known, spare []byte) (bool, []byte)          { return false, spare }
func (d *Store) Absent(string) bool                                       { return true }
func (d *Store) Settled(context.Context) (*schema.Manifest, error)        { return nil, ErrUnsupported }
func (d *Store) WriteManifest(*schema.Manifest) error                     { return ErrUnsupported }
func (d *Store) Stage(string, map[string][]byte) error                    { return ErrUnsupported }
func (d *Store) Unstage() error                                           { return ErrUnsupported }
func (d *Store) Install(id, name string, keep bool) error                 { return ErrUnsupported }
func (d *Store) Drop(name, kept string) error                             { return ErrUnsupported }
func (d *Store) QuarantinePath(string) string                             { return "" }
func (d *Store) StagedPath(id, name string) string                        { return "" }
func (d *Store) Still(_, _ *schema.Manifest, _ *schema.Declaration) error { return ErrUnsupported }

func (d *Store) ReadStaged(string, string, []byte, int) ([]byte, error) { return nil, ErrUnsupported }
func (d *Store) LockAll(context.Context, time.Duration) (*schema.Manifest, func(), error) {
	return nil, nil, ErrUnsupported
}
func (d *Store) Obstructed(context.Context, *schema.Manifest, time.Duration) error {
	return ErrUnsupported
}
func (d *Store) Writable() error { return ErrUnsupported }
func (d *Store) OwnerObstructed(context.Context, *schema.Manifest, string, time.Duration) error {
	return ErrUnsupported
}
func (c *Claim) Same([]byte, []byte) (bool, []byte) { return false, nil }
func (c *Claim) Absent() bool                       { return true }
func (d *Store) Quarantine(string) (Quarantined, error) {
	return Quarantined{}, ErrUnsupported
}
func (d *Store) Keep(string, []byte) (Quarantined, error) {
	return Quarantined{}, ErrUnsupported
}
func (d *Store) Upgrade(context.Context, *schema.Declaration) (*schema.Manifest, error) {
	return nil, ErrUnsupported
}

// FileSystem cannot tell.
func FileSystem(string) (name string, refused bool) { return "unknown", false }

// User returns no user.
func User() int { return -1 }

func (d *Store) Inventory(*schema.Manifest) ([]Found, error)     { return nil, ErrUnsupported }
func (d *Store) Lost(*schema.Manifest) []Loss                    { return nil }
func (d *Store) Holder(*schema.Manifest, string) (Holder, error) { return Holder{}, ErrUnsupported }
func (d *Store) Locked(*schema.Manifest, string) (bool, error)   { return false, ErrUnsupported }
func (d *Store) Strays(*schema.Manifest) ([]Litter, error)       { return nil, ErrUnsupported }
