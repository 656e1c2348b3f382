package bench

import "math/rand/v2"

// A viewer reads the state of all owners.
type viewer interface {
	// change makes n the value of one owner. Whether that is durable does
	// not matter: it is not timed.
	change(owner int, n int64) error
	// sum reads the state and adds up the owners' values.
	sum() (int64, error)
	close() error
}

// A looker is the contestant that a viewer makes. It checks the sum of every
// view.
type looker struct {
	viewer
	values [5]int64
}

func newLooker(v viewer) (*looker, error) {
	l := &looker{viewer: v}
	for owner := range l.values {
		if err := l.write(owner, firstValue); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *looker) write(owner int, n int64) error {
	l.values[owner] = n
	return l.change(owner, n)
}

func (l *looker) do(int64) error {
	found, err := l.sum()
	if err != nil {
		return err
	}
	var last int64
	for _, n := range l.values {
		last += n
	}
	return want(found, last)
}

func (l *looker) finish(int64) error { return l.close() }

// stirred looks at a state in which one owner, any one, has just written.
type stirred struct {
	*looker
	random *rand.Rand
}

func (s stirred) prepare(n int64) error { return s.write(s.random.IntN(len(s.values)), n) }

// viewKinds returns the kinds of one of the two tables.
func viewKinds(changed bool) []kind {
	kinds := []kind{
		viewKind("bare", "checks, decoding, one version of the whole", openBareFiles, changed),
		viewKind("freehold", "", openTypedView, changed),
		viewKind("freehold-view", "a look at any field", openBareView, changed),
		viewKind("readfile+json", "one version of the whole", openReadFiles, changed),
		viewKind("readfile+json-sidecars", "one version of the whole", openReadSidecars, changed),
		viewKind("lockedfile+json", "one version of the whole", openLockedFiles, changed),
		viewKind("stat+json", "certainty, one version of the whole", openStat, changed),
		viewKind("bbolt", "other processes", openBoltView, changed),
	}
	for _, d := range sqliteDrivers {
		kinds = append(kinds, viewKind("sqlite-"+d.short, "", d.openView, changed))
	}
	return kinds
}

func viewKind(name, lacks string, open func(dir string) (viewer, error), changed bool) kind {
	turn := 200
	if changed {
		turn = 20 // their writes take far longer than they do
	}
	return kind{name: name, lacks: lacks, turn: turn, open: func(dir string) (contestant, error) {
		v, err := open(dir)
		if err != nil {
			return nil, err
		}
		l, err := newLooker(v)
		if changed {
			return stirred{l, rand.New(rand.NewPCG(1, 2))}, err
		}
		return l, err
	}}
}
