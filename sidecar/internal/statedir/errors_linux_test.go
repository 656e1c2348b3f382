package statedir

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/errorstest"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"golang.org/x/sys/unix"
)

func init() { scratch.Guard() }

const (
	race   = "wants another process between two system calls"
	kernel = "names the system call that failed; only a broken kernel makes it fail"
)

var said = errorstest.Golden{
	Update:  flag.Bool("update", false, "write the golden files anew"),
	Folders: []string{"../claims", "../dir", "../lock", "../process"},
	Wraps:   []string{"../../../schema", "../status"},
	Untold: map[string]string{
		"this file system cannot rename without replacing (%w), so that two processes could both win a claim": "wants such a file system",
		"remove the staged file: %w":       "wants a disk that fails twice",
		"a symbolic link is in its place":  "package sidecar's tests replace the directory and see it",
		"something else is in its place":   "likewise",
		"nothing was removed":              race,
		"%w: it grew past %d bytes":        race,
		"name a lock: %w":                  kernel,
		"name a lock: %s does not list it": kernel,
		"process %d: pidfd_open: %w":       kernel,
		"process %d: poll: %w":             kernel,
		"%s names no user":                 kernel,
	},
	Unhelped: map[string]string{
		"file: …":    "packages sidecar and reader add which command moves the file aside",
		"process: …": "says of a process what the caller asked; what follows from it only the caller knows",
	},
}

// TestErrorsSayWhatToDo provokes the errors of directories, files and locks.
func TestErrorsSayWhatToDo(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d := newState(t)
	dir := d.Path()
	parent := filepath.Dir(dir)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, dir, "STATE", parent, "DIR")
	}
	same("create: a state is there", Create(dir, declaration()))
	_, err := Open(parent)
	same("open: no state", err)
	_, err = Open(filepath.Join(dir, ".freehold", "manifest.json"))
	same("open: a file", err)
	must(os.Symlink(dir, filepath.Join(parent, "link")))
	_, err = Open(filepath.Join(parent, "link"))
	same("open: a link", err)
	_, err = Find("/proc/self")
	said.Same(t, "find: no state", err)
	must(os.Chmod(dir, 0o722))
	_, err = Open(dir)
	same("open: others may write", err)
	must(os.Chmod(dir, 0o700))

	in := func(name string) string { return filepath.Join(dir, name) }
	must(os.Mkdir(in("a.json"), 0o700))
	must(os.WriteFile(in("b.json"), []byte("{}"), 0o600))
	must(os.Link(in("b.json"), in("c.json")))
	must(os.WriteFile(in("d.json"), make([]byte, 9), 0o600))
	must(os.Symlink("d.json", in("e.json")))
	must(syscall.Mkfifo(in("f.json"), 0o600))
	for _, name := range []string{"a.json", "b.json", "d.json", "e.json", "f.json"} {
		_, err = d.ReadFile(name, nil, 8)
		same("file: read "+name, err)
	}
	_, err = d.state.Existing("c.json")
	same("file: replace c.json", err)

	torn, err := os.ReadFile(in(".freehold/manifest.json"))
	must(err)
	must(os.WriteFile(in(".freehold/.manifest.json300000000000000"), torn, 0o600))
	must(os.WriteFile(in(".freehold/manifest.json"), torn[:9], 0o600))
	_, err = d.Manifest()
	same("manifest: torn, with a whole one beside it", err)
	must(os.Rename(in(".freehold/.manifest.json300000000000000"), in(".freehold/manifest.json")))

	contradiction := declaration()
	contradiction.Owners["cost"].Fields["turns"] = schema.Field{Type: schema.TypeBool}
	_, err = d.Upgrade(t.Context(), contradiction, stateWait)
	same("upgrade: a contradiction", err)
	_, err = d.ParseManifest([]byte("{\x1b"))
	same("manifest: no JSON", err)

	_, err = Open("/proc")
	same("open: on a file system without locks", err)
	must(os.Chmod(filepath.Dir(dir), 0o777))
	_, err = Open(dir)
	said.Same(t, "open: others may write above it", err, dir, "STATE", filepath.Dir(dir), "ABOVE")
	must(os.Chmod(filepath.Dir(dir), 0o700))
	must(os.Chown(filepath.Dir(dir), 65534, 65534))
	_, err = Open(dir)
	said.Same(t, "open: above it is another user's", err, dir, "STATE", filepath.Dir(dir), "ABOVE")
	must(os.Chown(filepath.Dir(dir), 0, 0))
	must(unix.Mount(in("b.json"), in("d.json"), "", unix.MS_BIND, ""))
	_, err = d.ReadFile("d.json", nil, 8)
	same("file: read what is mounted", err)
	_, err = d.Quarantine().Move("d.json")
	same("quarantine: what is mounted", err)
	must(unix.Unmount(in("d.json"), unix.MNT_DETACH))
	must(os.WriteFile(in("other"), nil, 0o600))
	must(os.Mkdir(in("else"), 0o700))
	must(os.Symlink("nowhere", in("else/.freehold")))
	same("create: something is in the way", Create(in("else"), declaration()))

	must(os.Rename(in(".freehold/manifest.json"), in("m")))
	_, err = d.Manifest()
	same("manifest: gone", err)
	must(os.Rename(in("m"), in(".freehold/manifest.json")))
	must(os.Rename(dir, dir+"-elsewhere"))
	same("unmoved: it was moved", d.Unmoved())
	must(os.Rename(dir+"-elsewhere", dir))
}

func TestErrorsSayWhatToDoOfOtherUsers(t *testing.T) {
	d := newState(t)
	dir := d.Path()
	if err := os.WriteFile(filepath.Join(dir, "cost.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cost.json", "."} {
		if err := os.Chown(filepath.Join(dir, name), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.state.Existing("cost.json")
	said.Same(t, "replace: another user's", err, dir, "STATE")
	_, err = Open(dir)
	said.Same(t, "open: another user's", err, dir, "STATE")
}

func TestErrorsSayWhatToDoOfLocks(t *testing.T) {
	d := newState(t)
	dir := d.Path()
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, dir, "STATE")
	}
	held, other := openLock(t, d, OwnerLock("cost")), openLock(t, d, OwnerLock("cost"))
	if ok, err := held.Try(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	same("lock: held by oneself", other.Acquire(t.Context(), 0))
	holder := exec.Command("flock", filepath.Join(dir, ".freehold", OwnerLease("watchdog")), "sh", "-c", "echo held; read line")
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	same("lock: held by another process", openLock(t, d, OwnerLease("watchdog")).Acquire(t.Context(), 0))
	in.Close()
	holder.Wait()
	same("lock: nobody is known to hold it", openLock(t, d, OwnerLock("watchdog")).Busy())
	if err := unix.Flock(d.meta.FD(), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	_, err = Remake(t.Context(), dir)
	same("repair: another one", err)
	if err := unix.Flock(d.meta.FD(), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, ".freehold", OwnerLock("cost"))
	if err := os.Rename(name, name+".lost"); err != nil {
		t.Fatal(err)
	}
	same("lock: lost", held.Held())
	_, err = Remake(t.Context(), dir)
	same("repair: the lost lock is held", err)
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	same("lock: re-made", held.Held())
	gone := openLock(t, d, OwnerLock("watchdog"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	same("lock: gone with its state", gone.Acquire(t.Context(), 0))
}

func TestErrorsSayWhatToDoOfAFlood(t *testing.T) {
	d := newState(t)
	if err := os.Mkdir(filepath.Join(d.Path(), ".freehold", OwnerPending("cost")), 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := d.OpenPending(manifestOf(t, d), "cost")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.read.Store(MostPendingBytes)
	if err := os.WriteFile(a.Path("one"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = a.ReadFile("one", nil, 1)
	said.Same(t, "pending: flooded with bytes", err, d.Path(), "STATE")
}

func TestErrorsSayWhatToDoOfProcesses(t *testing.T) {
	_, err := process.Open(-1)
	said.Same(t, "process: no number", err)
	cmd := sleeper(t)
	p, err := process.Open(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	said.Same(t, "process: no such signal", p.Signal(unix.Signal(9999)))
	cmd.Process.Kill()
	cmd.Wait()
	said.Same(t, "process: ended", p.There())
	said.Same(t, "process: signalled when it had ended", p.Signal(unix.SIGTERM))
	_, err = process.Open(1 << 30)
	said.Same(t, "process: none has the number", err)
}

// TestErrorsSayWhatToDoOfInstances is about states that are one per something.
func TestErrorsSayWhatToDoOfInstances(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	whole := newState(t).Path()
	many := filepath.Join(t.TempDir(), "sessions")
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, many, "SESSIONS", whole, "STATE")
	}
	d := declaration()
	d.Instances.By = "session_id"
	must(CreateInstance(many, "one", d))
	_, err := OpenInstance(many, "two\x1b")
	same("instance: a hostile id", err)
	_, err = OpenInstance(many, "two")
	same("instance: there is none", err)
	must(os.Mkdir(filepath.Join(many, "two"), 0o700))
	must(os.WriteFile(filepath.Join(many, "two", "file"), nil, 0o600))
	same("instance: something has its name", CreateInstance(many, "two", d))
	same("instance: of a state without", CreateInstance(many, "three", declaration()))
	same("instance: in a state without", CreateInstance(whole, "three", d))
	other := declaration()
	other.State, other.Instances.By = "other", "project"
	same("instance: of another state", CreateInstance(many, "three", other))
	at, err := Open(many)
	must(err)
	defer at.Close()
	_, err = at.Manifest()
	same("open: a directory of instances", err)

	one := filepath.Join(many, "one")
	must(os.Rename(one, filepath.Join(many, "uno")))
	moved, err := OpenInstance(many, "uno")
	must(err)
	defer moved.Close()
	_, err = moved.Manifest()
	same("instance: its directory was renamed", err)
	must(os.Rename(filepath.Join(many, "uno"), one))
	must(os.Rename(whole, filepath.Join(many, "whole")))
	misplaced, err := OpenInstance(many, "whole")
	must(err)
	defer misplaced.Close()
	_, err = misplaced.Manifest()
	same("instance: a state without in its place", err)
	found, err := Instances(many)
	must(err)
	for _, i := range found {
		if i.Err != nil {
			same("instances: "+i.Name, i.Err)
		}
	}
	opened, err := OpenInstance(many, "one")
	must(err)
	defer opened.Close()
	if ok, err := opened.state.Lock(unix.LOCK_EX); !ok || err != nil {
		t.Fatal(ok, err)
	}
	again, err := OpenInstance(many, "one")
	must(err)
	defer again.Close()
	_, err = again.LockExclusive()
	same("instance: to be removed, and open", err)
	same("instance: about to be removed", again.LockShared(t.Context(), 0))
	must(os.WriteFile(filepath.Join(many, ".freehold", gatherName), []byte("{\x1b"), 0o600))
	_, err = GatheringIn(many)
	same("instances: what says so is damaged", err)
	for how, text := range map[string]string{"says nothing": `{"format":1}`, "is newer": `{"format":7}`} {
		must(os.WriteFile(filepath.Join(many, ".freehold", gatherName), []byte(text), 0o600))
		_, err = GatheringIn(many)
		same("instances: what says so "+how, err)
	}
	must(os.Remove(filepath.Join(many, ".freehold", gatherName)))
	_, err = GatheringIn(many)
	same("instances: what says so is gone", err)
}

// TestErrorsSayWhatToDoOfClaims is about the directory of claims.
func TestErrorsSayWhatToDoOfClaims(t *testing.T) {
	d := declaration()
	d.Owners["hook"] = schema.Owner{Fields: map[string]schema.Field{"fired": {Type: schema.TypeTime, Kind: schema.Once}}}
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, d); err != nil {
		t.Fatal(err)
	}
	s := openState(t, dir)
	m, err := s.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".freehold", "claims", "hook")); err != nil {
		t.Fatal(err)
	}
	_, err = s.Claim(m, "hook", "fired").Read(nil)
	said.Same(t, "claim: its directory is gone", err, dir, "STATE")
	var st unix.Stat_t
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".freehold", "claims", "hook"), 0o700), unix.Stat(filepath.Join(dir, ".freehold", "claims", "hook"), &st)); err != nil {
		t.Fatal(err)
	}
	m.Claims["hook"] = st.Ino // as the file system may give out again
	_, err = s.Claim(m, "hook", "fired").Read(nil)
	said.Same(t, "claim: its directory is another one", err, dir, "STATE", m.IDs["claims/hook"], "ID")
	m.Locks["hook.lock"]++
	said.Same(t, "witness: another lock file", WitnessOf(s, m, "hook").Claimed(0, "0000000000000"), dir, "STATE")
	m.Locks["hook.lock"]--
	id := m.IDs["hook.lock"]
	m.IDs["hook.lock"] = "0000000000000"
	_, err = s.OpenLock(m, "hook.lock")
	said.Same(t, "lock: another one with the same inode", err, dir, "STATE", id, "ID")
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }

// sleeper starts a process that does nothing until the test ends.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func TestErrorsSayWhatToDoOfUpgrades(t *testing.T) {
	d := newState(t)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, d.Path(), "STATE", filepath.Dir(d.Path()), "DIR")
	}
	unsound := declaration()
	unsound.Owners["cost"].Fields["worse"] = schema.Field{Type: "money"}
	same("create: unsound", Create(filepath.Join(filepath.Dir(d.Path()), "other"), unsound))
	same("create an instance: unsound", CreateInstance(filepath.Join(filepath.Dir(d.Path()), "other"), "i", unsound))
	_, err := d.Upgrade(t.Context(), unsound, stateWait)
	same("upgrade: unsound", err)
	vast := declaration()
	vast.Owners["cost"] = schema.Owner{Doc: strings.Repeat("x", schema.MaxManifest), Fields: vast.Owners["cost"].Fields}
	same("create: too large a manifest", Create(filepath.Join(filepath.Dir(d.Path()), "other"), vast))

	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	now := *m
	now.StateID = strings.Repeat("0", 26)
	same("still: another state", d.Still(m, &now, declaration()))
	now = *m
	now.Declaration = schema.Declaration{State: "agent"}
	same("still: less than before", d.Still(m, &now, declaration()))
	m.Pending = &schema.Pending{ID: process.NewNonce()}
	if err := d.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	_, err = d.Settled(t.Context(), stateWait)
	same("upgrade: not finished", err)
}
