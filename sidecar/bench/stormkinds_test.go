package bench

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/gofrs/flock"
)

// An openSetter is called once in each process of a storm, for its owner. set
// makes n that owner's value.
type openSetter func(dir, owner string) (set func(n int64) error, finish func() error, err error)

// Names of the processes' kinds.
const (
	stormPrefix  = "storm/"
	durableStorm = stormPrefix + "durable"
)

// stormCrowds are the kinds of process that storms are of.
func stormCrowds() []crowdKind {
	kinds := []crowdKind{{name: durableStorm, open: counting(setPower)}}
	for _, k := range stormKinds() {
		kinds = append(kinds, crowdKind{name: stormPrefix + k.name, open: counting(k.write)})
	}
	return kinds
}

// counting makes every value another one.
func counting(open openSetter) func(dir, owner string) (add, finish func() error, err error) {
	return func(dir, owner string) (add, finish func() error, err error) {
		set, finish, err := open(dir, owner)
		n := int64(firstValue)
		return func() error {
			n++
			return set(n)
		}, finish, err
	}
}

func setPower(dir, owner string) (func(int64) error, func() error, error) {
	return setFreehold(dir, owner, schema.Power)
}

func setProcess(dir, owner string) (func(int64) error, func() error, error) {
	return setFreehold(dir, owner, schema.Process)
}

func setFreehold(dir, owner string, durability schema.Durability) (func(int64) error, func() error, error) {
	f, err := newFreehold(dir, owner, declaration(durability, owners...))
	if err != nil {
		return nil, nil, err
	}
	return f.set, f.writer.Close, nil
}

func setFile(dir, owner string) (func(int64) error, func() error, error) {
	f, err := newFiles(dir)
	return func(n int64) error { return f.change(slices.Index(owners, owner), n) }, nothing, err
}

func setLocked(dir, owner string) (func(int64) error, func() error, error) {
	v, err := openLockedFiles(dir)
	return func(n int64) error { return v.change(slices.Index(owners, owner), n) }, nothing, err
}

func (d sqliteDriver) setter(dir, owner string) (func(int64) error, func() error, error) {
	s, err := d.open(dir, nil)
	if err != nil {
		return nil, nil, err
	}
	return func(n int64) error { return s.write(owner, n) }, s.close, nil
}

func setBolt(dir, owner string) (func(int64) error, func() error, error) {
	b := newSharedBolt(dir)
	return func(n int64) error { return b.change(slices.Index(owners, owner), n) }, b.close, nil
}

// sharedBolt opens the database for each view and each write, see [addBolt].
type sharedBolt struct {
	dir  string
	lock *flock.Flock
}

func newSharedBolt(dir string) sharedBolt {
	return sharedBolt{dir, flock.New(filepath.Join(dir, "state.lock"))}
}

func openSharedBolt(dir string) (viewer, error) {
	return newSharedBolt(dir), createBolt(dir, owners)
}

func (b sharedBolt) locked(fn func(*boltStore) error) (err error) {
	if err := b.lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.lock.Unlock()) }()
	s, err := reopenBolt(b.dir)
	if err != nil {
		return err
	}
	s.db.NoSync = true // the writes are not timed
	return errors.Join(fn(s), s.db.Close())
}

func (b sharedBolt) change(owner int, n int64) error {
	return b.locked(func(s *boltStore) error { return s.set(owners[owner], n) })
}

func (b sharedBolt) sum() (sum int64, err error) {
	err = b.locked(func(s *boltStore) error {
		sum, err = boltView{s}.sum()
		return err
	})
	return sum, err
}

func (b sharedBolt) close() error { return b.lock.Close() }
