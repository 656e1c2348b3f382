package sidecar

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/witness"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

// told returns what the lock file of an owner tells of the sidecar.
func told(t *testing.T, dir, owner string) witness.Witness {
	t.Helper()
	text := readFile(t, metaPath(dir, statedir.OwnerLock(owner)))
	if len(text) < witness.Offset+witness.Size {
		return witness.Witness{}
	}
	return witness.Parse([]byte(text[witness.Offset : witness.Offset+witness.Size]))
}

// tell writes a line about the sidecar into the lock file of an owner.
func tell(t *testing.T, dir, owner string, line []byte) {
	t.Helper()
	f, err := os.OpenFile(metaPath(dir, statedir.OwnerLock(owner)), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(line, witness.Offset); err != nil {
		t.Fatal(err)
	}
}

// rollbacks are the ways in which another hand takes back commits of an owner,
// each after a first commit with the text older.
var rollbacks = map[string]func(path, older string) error{
	"an older copy": func(path, older string) error { return os.WriteFile(path, []byte(older), 0o600) },
	"gone":          func(path, _ string) error { return os.Remove(path) },
	"renamed over": func(path, older string) error {
		if err := os.WriteFile(path+".backup", []byte(older), 0o600); err != nil {
			return err
		}
		return os.Rename(path+".backup", path)
	},
}

// A commit that another hand takes back is seen although no owner had observed
// it: by the open writer and a new one, by a reader that has the newer view, and
// by its watch. Accept and Quarantine go on in a larger epoch.
func TestARollbackThatNobodyObservedIsSeen(t *testing.T) {
	for how, damage := range rollbacks {
		for _, owner := range []string{"cost", "watchdog"} {
			for name, cure := range map[string]func(dir string) (Version, error){
				"accept": func(dir string) (Version, error) {
					a, err := Accept(t.Context(), dir, owner, &Options{Clock: backThen})
					return a.Version, err
				},
				"quarantine": func(dir string) (Version, error) {
					_, err := Quarantine(t.Context(), dir, owner, &Options{Clock: backThen})
					return Version{}, err
				},
			} {
				t.Run(how+", "+owner+", "+name, func(t *testing.T) {
					dir := newState(t)
					Damaged(dir, "sidecar-regressed")
					w := openOwner(t, dir, owner, &Options{Clock: backThen})
					fn := map[string]func(*Tx) error{"cost": addTurns(1), "watchdog": beat}[owner]
					update(t, w, fn)
					path := sidecarPath(dir, owner)
					older := readFile(t, path)
					last := update(t, w, fn).Version

					r, err := reader.Open(dir)
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					began := false
					for v, err := range r.Watch(ctx) {
						if err != nil {
							t.Fatal(err)
						}
						o, _ := v.Owner(owner)
						if began && o.Status == store.Regressed {
							break
						}
						if o.Status == store.OK && !began {
							began = true
							if err := damage(path, older); err != nil {
								t.Fatal(err)
							}
						}
					}
					if ctx.Err() != nil {
						t.Fatal("the watch does not show it")
					}
					_, err = w.Update(t.Context(), fn)
					wantError(t, err, store.Regressed, filepath.Base(path), "the lock file tells of version "+last.String(), "accept "+owner)
					w.Close()
					next := openOwner(t, dir, owner, &Options{Clock: backThen})
					_, err = next.Update(t.Context(), fn)
					wantError(t, err, store.Regressed)
					next.Close()

					if v, err := cure(dir); err != nil || !v.IsZero() && v.Epoch <= last.Epoch {
						t.Fatalf("%s: version %v after %v (%v)", name, v, last, err)
					}
					next = openOwner(t, dir, owner, &Options{Clock: backThen})
					if v := update(t, next, fn).Version; v.Epoch <= last.Epoch {
						t.Errorf("version %v after %v", v, last)
					}
					if got := told(t, dir, owner); got.Published.IsZero() {
						t.Error("the lock file tells of no version")
					}
				})
			}
		}
	}
}

// The lock file tells of a version once it is published, and as durable only if
// the directory was synced. After another boot the durable one counts, and no
// version is issued again.
func TestAnotherBootCountsWhatIsOnDisk(t *testing.T) {
	dir := newLatches(t)
	w := openLatches(t, dir, "hook", nil) // durability: process
	raise := func(n string) func(tx *Tx) error {
		return func(tx *Tx) error {
			tx.Apply(Op{Field: "turn", Verb: schema.VerbRaise, Value: []byte(n)})
			return nil
		}
	}
	update(t, w, raise("1"))
	older := readFile(t, sidecarPath(dir, "hook"))
	last := update(t, w, raise("2")).Version
	now := told(t, dir, "hook")
	if now.Published != last || !now.Durable.IsZero() || now.Boot != process.Self().Boot {
		t.Fatalf("the lock file tells of %+v after %v", now, last)
	}
	if err := os.WriteFile(sidecarPath(dir, "hook"), []byte(older), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.Update(t.Context(), raise("3"))
	wantError(t, err, store.Regressed)

	onAnotherBoot(t)
	now.Boot = "another boot"
	for _, took := range []string{"the last commit", "the sidecar"} { // power loss did
		now.Published.Epoch += 1000
		tell(t, dir, "hook", now.Append(nil))
		if took == "the sidecar" {
			remove(t, sidecarPath(dir, "hook"))
		}
		w := openLatches(t, dir, "hook", &Options{Clock: backThen})
		if v := update(t, w, raise("3")).Version; v.Epoch <= now.Published.Epoch {
			t.Errorf("%s is gone: version %v after %v", took, v, now.Published)
		}
		now.Published.Epoch += 1000
	}
}

// A line that is blank, torn, short or of another program says nothing, and the
// next commit writes it.
func TestATornWitnessSaysNothing(t *testing.T) {
	whole := witness.Witness{Published: Version{Epoch: 1 << 51, Revision: 1, Nonce: "0000000000000"}, Boot: process.Self().Boot}.Append(nil)
	for name, line := range map[string][]byte{
		"blank":   witness.AppendBlank(nil),
		"zeros":   make([]byte, witness.Size),
		"torn":    append(append([]byte(nil), whole[:100]...), witness.AppendBlank(nil)[100:]...),
		"flipped": []byte(strings.Replace(string(whole), ".1.", ".2.", 1)),
		"text":    []byte(strings.Repeat("x", witness.Size)),
	} {
		dir := newState(t)
		w := openOwner(t, dir, "cost", nil)
		update(t, w, addTurns(1))
		tell(t, dir, "cost", line)
		last := update(t, w, addTurns(1)).Version
		if got := told(t, dir, "cost"); got.Published != last || got.Durable != last {
			t.Errorf("%s: the lock file tells of %+v after %v", name, got, last)
		}
	}
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	update(t, w, addTurns(1))
	tell(t, dir, "cost", whole)
	_, err := w.Update(t.Context(), addTurns(1))
	wantError(t, err, store.Regressed) // so that the table above can fail
	if _, err := Accept(t.Context(), dir, "cost", nil); err != nil {
		t.Fatal(err)
	}
}

// A claim that another hand removes can be neither read nor won until it is
// accepted, and another claim in its place does not count.
func TestAClaimThatIsGoneIsNotWonAgain(t *testing.T) {
	for how, damage := range map[string]func(path, before string) error{
		"removed":  func(path, _ string) error { return os.Remove(path) },
		"put back": func(path, before string) error { return os.WriteFile(path, []byte(before), 0o600) },
	} {
		t.Run(how, func(t *testing.T) {
			dir := newLatches(t)
			Damaged(dir, "claim-regressed")
			w := openLatches(t, dir, "hook", nil)
			_, first, err := w.Claim(t.Context(), "fired")
			if err != nil {
				t.Fatal(err)
			}
			before := readFile(t, claimPath(dir, "fired"))
			remove(t, claimPath(dir, "fired"))
			_, _, err = w.Claim(t.Context(), "fired")
			wantError(t, err, store.Regressed, "the lock file tells of claim "+first.ID+", which is gone", "accept hook")
			a, err := Accept(t.Context(), dir, "hook", nil)
			if err != nil || len(a.Freed) != 1 || a.Freed[0] != "fired" {
				t.Fatalf("accepted %+v (%v)", a, err)
			}
			won, second, err := w.Claim(t.Context(), "fired")
			if !won || err != nil {
				t.Fatalf("won %v (%v)", won, err)
			}
			if err := damage(claimPath(dir, "fired"), before); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				won, _, err := w.Claim(t.Context(), "fired")
				if wantError(t, err, store.Regressed, "claim "+second.ID); won {
					t.Error("it was won again")
				}
				_, _, err = ResolveClaim(dir, "hook", "fired", second.ID)
				wantError(t, err, store.Regressed)
			}
			r, err := reader.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			v, err := r.View(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = v.Field("fired").Raw()
			wantError(t, err, store.Regressed)
			if a, err := Accept(t.Context(), dir, "hook", nil); err != nil || (len(a.Freed) == 1) != (how == "removed") {
				t.Fatalf("accepted %+v (%v)", a, err)
			}
			if won, by, err := w.Claim(t.Context(), "fired"); err != nil || won != (how == "removed") || how == "put back" && by.ID != first.ID {
				t.Errorf("won %v by %+v (%v)", won, by, err)
			}
		})
	}
}

// A claimant that is killed before the lock file tells of the claim leaves an
// empty slot, which the next caller fills.
func TestTheNextCallerFillsAnEmptySlot(t *testing.T) {
	dir := newLatches(t)
	Damaged(dir, "claim-regressed")
	w := openLatches(t, dir, "hook", nil)
	if _, _, err := w.Claim(t.Context(), "fired"); err != nil {
		t.Fatal(err)
	}
	unwitness(t, dir)
	if won, _, err := openLatches(t, dir, "hook", nil).Claim(t.Context(), "fired"); won || err != nil {
		t.Fatalf("won %v (%v)", won, err)
	}
	remove(t, claimPath(dir, "fired"))
	_, _, err := w.Claim(t.Context(), "fired")
	wantError(t, err, store.Regressed)
}

// A lock file or a directory that is made anew is lost, also if the file system
// gives it the inode number of the former one.
func TestAnInodeNumberAloneIsNoIdentity(t *testing.T) {
	dir := newLatches(t)
	Damaged(dir, "lost", "claims-lost")
	w := openLatches(t, dir, "hook", nil)
	same := func(name string) {
		t.Helper()
		var st unix.Stat_t
		if err := unix.Stat(metaPath(dir, name), &st); err != nil {
			t.Fatal(err)
		}
		if name == "claims/hook" {
			w.manifest.Claims["hook"] = st.Ino
		} else {
			w.manifest.Locks[name] = st.Ino
		}
	}
	remove(t, metaPath(dir, "claims/hook"))
	if err := os.Mkdir(metaPath(dir, "claims/hook"), 0o700); err != nil {
		t.Fatal(err)
	}
	same("claims/hook")
	_, _, err := w.Claim(t.Context(), "fired")
	wantError(t, err, store.Lost, "made with the state")
	remove(t, metaPath(dir, "hook.lock"))
	if err := os.WriteFile(metaPath(dir, "hook.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	same("hook.lock")
	_, err = w.openLock("hook.lock")
	wantError(t, err, store.Lost, "made with the state")
}

// A writer that cannot note the version in the lock file goes on, and says so.
func TestAWitnessThatCannotBeWrittenStopsNothing(t *testing.T) {
	dir := newLatches(t)
	var notices []error
	w := openLatches(t, dir, "hook", &Options{Notice: func(err error) { notices = append(notices, err) }})
	w.manifest.Locks["hook.lock"]++ // as if the lock file were another one
	update(t, w, func(tx *Tx) error {
		tx.Apply(Op{Field: "turn", Verb: schema.VerbRaise, Value: []byte("1")})
		return nil
	})
	if won, _, err := w.Claim(t.Context(), "fired"); !won || err != nil {
		t.Fatalf("won %v (%v)", won, err)
	}
	if len(notices) != 2 {
		t.Fatalf("notices: %q", notices)
	}
	said.Same(t, "witness: a version", notices[0], dir, "STATE")
	said.Same(t, "witness: a claim", notices[1], dir, "STATE")
}

// An indeterminate commit is not told of: nobody knows whether it is there.
func TestAnIndeterminateCommitIsNotToldOf(t *testing.T) {
	dir := newState(t)
	w := openOwner(t, dir, "cost", nil)
	first := update(t, w, addTurns(1)).Version
	w.publisher = unsynced{w.publisher}
	_, err := w.Update(t.Context(), addTurns(1))
	wantError(t, err, ErrIndeterminate)
	if got := told(t, dir, "cost"); got.Published != first {
		t.Errorf("the lock file tells of %+v after %v", got, first)
	}
}

// unsynced publishes, and fails in the sync afterwards.
type unsynced struct{ publisher }

func (p unsynced) publish(name string, raw []byte, durable bool) error {
	if err := p.publisher.publish(name, raw, false); err != nil {
		return err
	}
	return ErrIndeterminate
}
