package reader_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// cuts is how many cuts are taken under load: by default those of the
// environment variable FREEHOLD_CUTS, or a thousand.
var cuts = flag.Int("cuts", 0, "take `n` cuts under load; if 0, $FREEHOLD_CUTS or 1000")

func wantedCuts(t *testing.T) int {
	n := *cuts
	if text := os.Getenv("FREEHOLD_CUTS"); n == 0 && text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("FREEHOLD_CUTS: %v", err)
		}
	}
	if n == 0 {
		n = 1000
	}
	return n
}

// links are owners of which each depends on those before it. By name, they are
// in the wrong order to be read.
var links = []string{"alpha", "beta", "gamma", "delta"}

func chain() *schema.Declaration {
	d := &schema.Declaration{State: "chain", Owners: map[string]schema.Owner{}}
	var before []string
	for _, owner := range links {
		d.Owners[owner] = owns(map[string]schema.Field{"n_" + owner: {Type: schema.TypeUint, DependsOn: before}})
		before = append(before, "n_"+owner)
	}
	return d
}

var writing = reader.Role("write", roleWrite)

// roleWrite commits as an owner until its standard input ends, as fast as it
// can: the first counts, each other takes the largest of what it sees.
func roleWrite(args []string) error {
	dir, owner := args[0], args[1]
	w, err := sidecar.Open(context.Background(), dir, chain(), owner, nil)
	if err != nil {
		return err
	}
	defer w.Close()
	r, err := reader.Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	var stop atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	for n := uint64(1); !stop.Load(); n++ {
		op := sidecar.Op{Field: "n_" + owner, Verb: schema.VerbSet, Value: strconv.AppendUint(nil, n, 10)}
		if owner != links[0] {
			if op.Seen, op.Value, err = sees(r, op.Field); err != nil {
				return err
			}
		}
		if _, err := w.Update(context.Background(), func(tx *sidecar.Tx) error { tx.Apply(op); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// sees returns what a view holds of the fields that field depends on, and the
// largest of them.
func sees(r *reader.Reader, field string) (token sidecar.Seen, largest []byte, err error) {
	v, err := r.View(context.Background())
	if err != nil {
		return token, nil, err
	}
	if token, err = v.ObserveFor(field); err != nil {
		return token, nil, err
	}
	most := uint64(0)
	for _, name := range token.Fields() {
		n, err := reader.FieldOf(v, name, schema.Uint).OrUnset(0)
		if err != nil {
			return token, nil, err
		}
		most = max(most, n)
	}
	return token, strconv.AppendUint(nil, most, 10), nil
}

// A held is what a cut holds of one owner: its value, the version of that, and
// what its writer had observed.
type held struct {
	n       uint64
	version document.Version
	saw     map[string]document.Version // by owner
}

// acausal says what in a cut was observed by somebody and is older there, or
// is empty. It goes by versions and, apart from them, by values.
func acausal(cut map[string]held) string {
	for _, by := range links {
		for of, seen := range cut[by].saw {
			have := cut[of].version
			if seen.Epoch > have.Epoch || seen.Epoch == have.Epoch && seen.Revision > have.Revision {
				return fmt.Sprintf("%s had observed version %v of %s, and the cut has %v", by, seen, of, have)
			}
		}
	}
	for i, by := range links[1:] {
		if cut[by].n > cut[links[0]].n {
			return fmt.Sprintf("%s has taken over %d, and %s, from which all of it comes, is at %d", links[i+1], cut[by].n, links[0], cut[links[0]].n)
		}
	}
	return ""
}

func snapshotOf(v *reader.View) (map[string]held, error) {
	cut := map[string]held{}
	for _, owner := range links {
		if o, _ := v.Owner(owner); o.Err != nil {
			return nil, o.Err
		}
		n, err := reader.FieldOf(v, "n_"+owner, schema.Uint).OrUnset(0)
		if err != nil {
			return nil, err
		}
		p, _ := v.Field("n_" + owner).Provenance()
		h := held{n, p.Version, map[string]document.Version{}}
		for _, of := range links {
			if version, ok := p.Observed.Version("n_" + of); ok {
				h.saw[of] = version
			}
		}
		cut[owner] = h
	}
	return cut, nil
}

// naiveCut reads one file after the other, what others depend on first, as code
// does that does not think of it.
func naiveCut(dir string) (map[string]held, error) {
	cut := map[string]held{}
	for _, owner := range links {
		text, err := os.ReadFile(filepath.Join(dir, store.FilesOf(owner).Sidecar))
		if err != nil {
			return nil, err
		}
		d, err := document.Decode(text)
		if err != nil {
			return nil, err
		}
		raw, by, _ := d.Field("n_" + owner)
		h := held{version: by.Version, saw: map[string]document.Version{}}
		if h.n, err = strconv.ParseUint(string(raw), 10, 64); err != nil {
			return nil, err
		}
		for _, of := range links {
			if version, ok := d.Observed("n_" + owner)["n_"+of]; ok {
				h.saw[of] = version
			}
		}
		cut[owner] = h
	}
	return cut, nil
}

// Four processes commit as fast as they can, each what it saw of those before
// it. No cut holds what was observed of something newer than it holds, whatever
// it calls itself, and no reader sees an owner go back. A naive reader does not
// pass the same check.
func TestCutsUnderLoadAreCausal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := store.Create(dir, chain()); err != nil {
		t.Fatal(err)
	}
	ctx := load(t, dir)
	awaitAll(ctx, t, dir)
	l := &looking{dir: dir, wanted: int64(wantedCuts(t))}
	const readers = 4
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() { l.look(ctx, t, i%2 == 1) })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	t.Logf("%d cuts by patient readers, %d of them (%.1f %%) atomic; %d by hasty ones; %d differed from that reader's last", l.patient.Load(), l.atomic.Load(), 100*float64(l.atomic.Load())/float64(l.patient.Load()), l.taken.Load()-l.patient.Load(), l.changed.Load())
	naive := 1
	for ; ; naive++ {
		cut, err := naiveCut(dir)
		if err != nil || ctx.Err() != nil {
			t.Fatal(err, context.Cause(ctx))
		}
		if wrong := acausal(cut); wrong != "" {
			t.Logf("the naive read number %d: %s", naive, wrong)
			return
		}
	}
}

// load starts a writer for each owner, to be ended with the test. The context
// that it returns ends if one of them ends by itself.
func load(t *testing.T, dir string) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	for _, owner := range links {
		cmd := reader.Process(writing, dir, owner)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		var over atomic.Bool
		go func() {
			defer close(ended)
			if err := cmd.Wait(); !over.Load() {
				cancel(fmt.Errorf("the writer of %s ended: %v", owner, err))
			} else if err != nil {
				t.Errorf("the writer of %s: %v", owner, err)
			}
		}()
		t.Cleanup(func() {
			over.Store(true)
			in.Close()
			<-ended
		})
	}
	return ctx
}

// awaitAll waits until every owner has written.
func awaitAll(ctx context.Context, t *testing.T, dir string) {
	r, err := reader.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for v, err := range r.Watch(ctx) {
		if err != nil {
			t.Fatal(err, context.Cause(ctx))
		}
		missing := 0
		for _, o := range v.Owners() {
			if o.Status == store.Missing {
				missing++
			}
		}
		if missing == 0 {
			return
		}
	}
	t.Fatal(context.Cause(ctx))
}

// looking counts the cuts of all readers.
type looking struct {
	dir                             string
	wanted                          int64
	taken, patient, atomic, changed atomic.Int64
}

// look takes cuts until there are enough, of which enough show that somebody
// wrote meanwhile. One in haste does not try for an atomic cut at all, as if
// the writers were much faster than it.
func (l *looking) look(ctx context.Context, t *testing.T, haste bool) {
	r, err := reader.Open(l.dir)
	if err != nil {
		t.Error(err)
		return
	}
	defer r.Close()
	if haste {
		r.SetRounds(0)
	}
	last, id := map[string]held{}, ""
	for l.taken.Load() < l.wanted || l.changed.Load() < min(l.wanted/10, 100) {
		v, err := r.View(ctx)
		if err != nil {
			t.Error(err, context.Cause(ctx))
			return
		}
		cut, err := snapshotOf(v)
		if err != nil {
			t.Error(err)
			return
		}
		if wrong := acausal(cut); wrong != "" {
			t.Errorf("a cut that calls itself %s: %s", v.Consistency(), wrong)
			return
		}
		for owner, before := range last {
			if now := cut[owner]; now.version.Epoch < before.version.Epoch || now.version.Epoch == before.version.Epoch && now.version.Revision < before.version.Revision {
				t.Errorf("%s went back from %v to %v", owner, before.version, now.version)
				return
			}
		}
		l.taken.Add(1)
		if !haste {
			l.patient.Add(1)
		}
		if v.Consistency() == reader.Atomic {
			l.atomic.Add(1)
		}
		if v.ID() != id {
			l.changed.Add(1)
		}
		last, id = cut, v.ID()
	}
}
