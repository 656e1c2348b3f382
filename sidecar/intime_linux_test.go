package sidecar

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/sys/unix"
)

func init() {
	roles["flock"] = roleFlock
	roles["unreadable"] = roleUnreadable
}

// roleFlock takes the kernel's lock on a file or a directory, says so, and keeps
// it.
func roleFlock(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	fmt.Println("held")
	os.Stdin.Read(make([]byte, 1))
	return nil
}

// shortWait is how long the calls of these tests mean to wait, and bound how
// long they may take: that wait, one commit, and what a busy machine adds.
const (
	shortWait = 300 * time.Millisecond
	bound     = shortWait + 30*time.Second
)

// several declares an owner of each sort, and a counter for each.
func several() *schema.Declaration {
	counter := schema.Field{Type: schema.TypeUint, Kind: schema.Counter}
	busy := schema.Busy{Wait: shortWait.String()}
	pending := schema.Busy{Wait: shortWait.String(), Then: schema.Defer}
	return &schema.Declaration{State: "session", Instances: schema.Instances{By: "session_id"}, Owners: map[string]schema.Owner{
		"guard": {Mode: schema.Exclusive, Busy: busy, Fields: map[string]schema.Field{"beats": counter}},
		"hook": {Busy: busy, Fields: map[string]schema.Field{
			"turns": counter, "fired": {Type: schema.TypeTime, Kind: schema.Once}, "reset": {Type: schema.TypeTime, Kind: schema.Event},
		}},
		"tool": {Busy: pending, Fields: map[string]schema.Field{"uses": counter}},
	}}
}

// A timedCall is something that a program does with a state, and how many
// increments of the owner's counter were acknowledged by it.
type timedCall func(ctx context.Context, dir string, w map[string]*Writer) (acknowledged int, err error)

// adds is the call of an Update with a Writer that was open before.
func adds(owner, field string) timedCall {
	return func(ctx context.Context, _ string, w map[string]*Writer) (int, error) {
		c, err := w[owner].Update(ctx, ops(op(field, schema.VerbAdd, "1")))
		if c.Outcome == NotApplied {
			return 0, err
		}
		return 1, err
	}
}

// opens is the call of an Open for owner, an Update and a Close.
func opens(owner, field string) timedCall {
	return func(ctx context.Context, dir string, _ map[string]*Writer) (n int, err error) {
		w, err := OpenInstance(ctx, dir, "s", several(), owner, &Options{Create: true, Wait: shortWait})
		if err != nil {
			return 0, err
		}
		n, err = adds(owner, field)(ctx, dir, map[string]*Writer{owner: w})
		return n, errors.Join(err, w.Close())
	}
}

// asked is a call that acknowledges nothing.
func asked(fn func(ctx context.Context, dir string, w map[string]*Writer) error) timedCall {
	return func(ctx context.Context, dir string, w map[string]*Writer) (int, error) {
		return 0, fn(ctx, filepath.Join(dir, "s"), w)
	}
}

// timedCalls are all calls that could wait for another process, by the counter
// that they add to, if any.
var timedCalls = map[string]map[string]timedCall{
	"uses":  {"update of an owner that defers": adds("tool", "uses"), "open of an owner that defers": opens("tool", "uses")},
	"turns": {"update": adds("hook", "turns"), "open": opens("hook", "turns")},
	"beats": {"update of an exclusive owner": adds("guard", "beats"), "open of an exclusive owner": opens("guard", "beats")},
	"": {
		"claim": asked(func(ctx context.Context, _ string, w map[string]*Writer) error {
			_, _, err := w["hook"].Claim(ctx, "fired")
			return err
		}),
		"begin": asked(func(ctx context.Context, _ string, w map[string]*Writer) error {
			_, err := EventOf(w["hook"], "reset").Begin(ctx)
			return err
		}),
		"resolve": asked(func(ctx context.Context, dir string, w map[string]*Writer) error {
			_, err := Resolve(ctx, dir, "tool", Version{Epoch: 1, Revision: 1, Nonce: process.NewNonce()})
			return err
		}),
		"resolve a claim": asked(func(_ context.Context, dir string, _ map[string]*Writer) error {
			_, _, err := ResolveClaim(dir, "hook", "fired", process.NewNonce())
			return err
		}),
		"accept": asked(func(ctx context.Context, dir string, _ map[string]*Writer) error {
			_, err := Accept(ctx, dir, "hook", &Options{Wait: shortWait})
			return err
		}),
		"quarantine": asked(func(ctx context.Context, dir string, _ map[string]*Writer) error {
			_, err := Quarantine(ctx, dir, "guard", &Options{Wait: shortWait})
			return err
		}),
		"ask for the lease": asked(func(_ context.Context, dir string, _ map[string]*Writer) error {
			_, err := LeaseStatus(dir, "guard")
			return err
		}),
		"prepare": asked(func(_ context.Context, dir string, _ map[string]*Writer) error {
			_, err := retire.Prepare(dir, "guard")
			return err
		}),
		"open by a build that declares more": func(ctx context.Context, dir string, _ map[string]*Writer) (int, error) {
			more := several()
			more.Owners["late"] = schema.Owner{Busy: schema.Busy{Wait: shortWait.String()}, Fields: map[string]schema.Field{"x": {Type: schema.TypeInt}}}
			w, err := OpenInstance(ctx, dir, "s", more, "late", nil)
			if err == nil {
				err = w.Close()
			}
			return 0, err
		},
	},
}

// While a process is stopped that has any lock of a state but a fence, no call
// takes longer than its wait and a commit. What was acknowledged is there when
// the process goes on, and nothing else.
func TestEveryCallEndsInTime(t *testing.T) {
	for _, lock := range []string{
		".freehold/hook.lock", ".freehold/tool.lock", ".freehold/guard.lock", ".freehold/guard.lease",
		".freehold/state.lock", ".freehold/tool.pending", "",
	} {
		t.Run("stopped with "+filepath.Base("the directory/"+lock), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "sessions")
			if err := Create(dir, several()); err != nil {
				t.Fatal(err)
			}
			if err := CreateInstance(dir, "s", several()); err != nil {
				t.Fatal(err)
			}
			state := filepath.Join(dir, "s")
			writers := map[string]*Writer{}
			for _, owner := range []string{"tool", "hook", "guard"} {
				if lock == "" || owner == "guard" && lock == ".freehold/guard.lease" {
					continue // with it open, nobody else gets the lock
				}
				w, err := Open(t.Context(), state, several(), owner, &Options{Wait: shortWait})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				writers[owner] = w
			}
			holder, release := holdAs(t, "flock", filepath.Join(state, lock), "")
			stop(t, holder)
			acknowledged := map[string]int{}
			for field, calls := range timedCalls {
				for name, call := range calls {
					if _, needs := map[string]bool{"update": true, "claim": true, "begin": true}[strings.Fields(name)[0]]; needs && len(writers) < 3 {
						continue
					}
					acknowledged[field] += inTime(t, name, dir, writers, call)
				}
			}
			if err := holder.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			release()
			for owner, field := range map[string]string{"tool": "uses", "hook": "turns", "guard": "beats"} {
				w := writers[owner]
				if w == nil {
					var err error
					if w, err = Open(t.Context(), state, nil, owner, &Options{Wait: time.Minute}); err != nil {
						t.Fatal(err)
					}
					defer w.Close()
				}
				want := fmt.Sprint(acknowledged[field])
				if _, err := w.Update(t.Context(), ops(op(field, schema.VerbAdd, "0"))); err != nil {
					t.Errorf("%s: %v", owner, err)
				}
				if got := values(t, w, field)[field]; got != want && !(want == "0" && got == "") {
					t.Errorf("%s is %q, and %s were acknowledged", field, got, want)
				}
			}
		})
	}
}

// inTime makes one call, which may fail, and fails the test if it does not end.
func inTime(t *testing.T, name, dir string, w map[string]*Writer, call timedCall) (acknowledged int) {
	t.Helper()
	type answer struct {
		n   int
		err error
	}
	said := make(chan answer, 1)
	start := time.Now()
	go func() {
		n, err := call(context.Background(), dir, w)
		said <- answer{n, err}
	}()
	select {
	case a := <-said:
		t.Logf("%s: %v, %v", name, time.Since(start).Round(time.Millisecond), a.err)
		return a.n
	case <-time.After(bound):
		t.Errorf("%s has not ended after %v", name, bound)
		return 0
	}
}

// roleUnreadable makes a state, takes all permissions from a lock file of it, and
// says what who opens it then hears.
func roleUnreadable(args []string) error {
	d := setters()
	if err := Create(args[0], d); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(args[0], ".freehold", "tool.lock"), 0); err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], d, "tool", &Options{Wait: shortWait})
	if err == nil {
		defer w.Close()
		_, err = w.Update(context.Background(), ops(op("n", schema.VerbAdd, "1")))
	}
	fmt.Println(errors.Is(err, store.Lost), errors.Is(err, fs.ErrPermission), err)
	return nil
}

// A lock file that cannot be read is refused, at once, and left as it is. Root
// reads everything.
func TestUnreadableLockIsRefusedInTime(t *testing.T) {
	above, err := os.MkdirTemp("", "freehold-test-") // which another user may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(above) })
	program := filepath.Join(above, "program")
	if err := errors.Join(os.WriteFile(program, []byte(readFile(t, os.Args[0])), 0o700), os.Chmod(program, 0o755)); err != nil { // whatever the umask
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, filepath.Join(above, "state"))
	cmd.Env = role.Env("unreadable")
	if os.Geteuid() == 0 {
		const nobody = 65534
		if err := os.Chown(above, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if took := time.Since(start); took > bound {
		t.Errorf("it took %v", took)
	}
	if said := bufio.NewScanner(strings.NewReader(string(out))); !said.Scan() || !strings.HasPrefix(said.Text(), "true true ") {
		t.Errorf("it heard %s", out)
	}
	lock, err := os.Stat(filepath.Join(above, "state", ".freehold", "tool.lock"))
	if err != nil || lock.Mode().Perm() != 0 {
		t.Errorf("the lock file is %v (%v)", lock.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(above, "state", "tool.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("somebody has written without the lock: %v", err)
	}
}
