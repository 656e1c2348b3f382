package statedir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/lock"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// gatherName is the file in the .freehold of a directory that holds instances.
const gatherName = "instances.json"

// A Gathering is the record of a directory that holds the instances of a
// state, .freehold/instances.json. There is no manifest beside it, so that no
// program takes the directory for one state.
type Gathering struct {
	Format int    `json:"format"`
	State  string `json:"state"`
	By     string `json:"by"` // there is an instance for each of these
}

// An Instance is a directory that has the name of an instance.
type Instance struct {
	// Name of the directory.
	Name string
	// ID of the instance, by its manifest.
	ID string
	// Err says why it cannot be used; then ID is empty.
	Err error
}

// OpenInstance is [Open] for the instance id of the state in dir. It returns an
// error that wraps [schema.ErrInstance] if id cannot be one, and [status.NoState]
// if there is no such instance.
func OpenInstance(dir, id string) (*Dir, error) {
	path, err := instancePath(dir, id)
	if err != nil {
		return nil, err
	}
	d, err := Open(path)
	if errors.Is(err, status.NoState) {
		return nil, fault(status.NoState, path, status.By(status.Init), fmt.Errorf("there is no instance %.80q", id))
	}
	if err != nil {
		return nil, err
	}
	d.instance = id
	return d, nil
}

func instancePath(dir, id string) (string, error) {
	name, err := schema.InstanceDir(id)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(dir)
	return filepath.Join(path, name), err
}

// CreateInstance makes the instance id of the state in dir, which is declared
// by d, and dir too if it is missing. It returns an error that wraps
// [status.Exists] if the instance is there. Of many processes that create one at
// once, exactly one does. It is there complete or not at all: no process
// takes the directory of a killed one for an instance.
func CreateInstance(dir, id string, d *schema.Declaration) error {
	if err := d.Sound(); err != nil {
		return status.With(fmt.Errorf("%s: the instance was not made: %w", dir, err), byHand("mend the declaration"))
	}
	path, err := instancePath(dir, id)
	if err != nil {
		return err
	}
	f, _, err := gather(filepath.Dir(path), d)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.stage(filepath.Base(path), func(fresh *folder) error { return fresh.fill(d, id) })
	if errors.Is(err, status.Exists) {
		if _, lost := os.Lstat(filepath.Join(path, metaName)); errors.Is(lost, fs.ErrNotExist) {
			return fault(status.NoState, path, byHand("move it away"), fmt.Errorf("a file or directory has the name of the instance %.80q", id))
		}
	}
	return err
}

// fill makes f, which is an instance in the making, a state.
func (f *folder) fill(d *schema.Declaration, id string) error {
	if err := f.Mkdir(metaName); err != nil {
		return err
	}
	meta, err := f.openChild(metaName)
	if err != nil {
		return err
	}
	defer meta.Close()
	if err := (&Dir{state: f, meta: meta}).WriteManifest(newManifest(d, id)); err != nil {
		return err
	}
	return f.Sync()
}

// gather opens the directory path that holds the instances of the state
// declared by d, and reports whether it made it.
func gather(path string, d *schema.Declaration) (f *folder, made bool, err error) {
	if !d.Instanced() {
		return nil, false, fault(status.NoInstances, path, byHand("leave the instance out"), fmt.Errorf("the state %s is declared so", d.State))
	}
	want := Gathering{schema.ManifestFormat, d.State, d.Instances.By}
	have, err := GatheringIn(path)
	if errors.Is(err, status.NoState) {
		err = withFolder(path, func(f *folder) error { return f.stage(metaName, want.write) })
		if made = err == nil; made || errors.Is(err, status.Exists) {
			have, err = GatheringIn(path)
		}
	}
	if err != nil {
		return nil, false, err
	}
	if have.State != want.State || have.By != want.By {
		return nil, false, fault(status.Declaration, path, byHand("use another directory"), fmt.Errorf("%w: the directory has the state %s, an instance per %s; declared is %s, an instance per %s",
			schema.ErrDeclaration, have.State, have.By, want.State, want.By))
	}
	f, err = openSafe(path)
	return f, made, err
}

func (g Gathering) write(meta *folder) error {
	text, err := json.Marshal(g, json.Deterministic(true))
	if err != nil {
		return err
	}
	if err := meta.WriteFile(gatherName, append(text, '\n')); err != nil {
		return err
	}
	return meta.Sync()
}

// GatheringIn returns the record of the directory dir that holds instances. It
// returns an error that wraps [status.NoState] if there is no state in dir, and
// [status.NoInstances] if it is a state without any.
func GatheringIn(dir string) (Gathering, error) {
	d, err := Open(dir)
	if err != nil {
		return Gathering{}, err
	}
	defer d.Close()
	return d.gathering()
}

// maxGathering bounds the file; it has three short members.
const maxGathering = 4 << 10

func (d *Dir) gathering() (g Gathering, err error) {
	text, err := d.meta.ReadFile(gatherName, nil, maxGathering)
	if errors.Is(err, fs.ErrNotExist) && !d.gathers() {
		return g, fault(status.NoInstances, d.Path(), byHand("use another directory, or leave the instance out"), nil)
	}
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	path := filepath.Join(d.meta.Path(), gatherName)
	switch named, ok := errors.AsType[*fs.PathError](err); {
	case ok:
		err = named.Err
	case err != nil:
	case g.Format > schema.ManifestFormat:
		return g, fault(status.Newer, path, byHand(UseNewer), fmt.Errorf("%w: %w", ErrInvalidManifest, &schema.FormatError{Found: g.Format}))
	case g.Format < schema.ManifestFormat || !schema.ValidName(g.State) || !schema.ValidName(g.By):
		err = errors.New("it has no format, no state or no names of instances")
	}
	if err != nil { // the cause is not wrapped: no missing state is said
		return g, fault(status.Invalid, path, byHand(fmt.Sprintf("restore it from a backup, or remove the directory %s if there are no instances beside it", d.meta.Path())), fmt.Errorf("%w (%v): it describes the instances beside it", ErrInvalidManifest, err))
	}
	return g, nil
}

// gathers reports whether d has no manifest, and holds an instance: then the file
// that says so was lost.
func (d *Dir) gathers() bool {
	if _, err := d.meta.ReadFile(manifestName, nil, schema.MaxManifest); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	found, err := instancesIn(d.Path())
	return err == nil && slices.ContainsFunc(found, func(i Instance) bool { return i.Err == nil })
}

// Instances lists the instances in the directory dir, by the names of their
// directories. Directories without a .freehold are none. It returns an error
// that wraps [status.NoState] if nothing in dir, nor dir itself, says that there
// are instances.
func Instances(dir string) ([]Instance, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	_, known := GatheringIn(path)
	if known != nil && !errors.Is(known, status.NoState) {
		return nil, known
	}
	found, err := instancesIn(path)
	if err != nil {
		return nil, err
	}
	// Without the record, only an instance shows that dir holds instances.
	if known != nil && !slices.ContainsFunc(found, func(i Instance) bool { return i.Err == nil }) {
		return nil, known
	}
	return found, nil
}

// instancesIn is [Instances] for a directory of which nothing is known.
func instancesIn(path string) (found []Instance, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, stateError(path, err)
	}
	for _, e := range entries {
		if !schema.ValidInstanceDir(e.Name()) {
			continue
		}
		if i, ok := instanceIn(path, e.Name()); ok {
			found = append(found, i)
		}
	}
	return found, nil
}

// mostLooks is how often an instance is looked for that was removed, or made anew,
// in that moment.
const mostLooks = 16

// instanceIn returns the instance in path that is called name, if there is one.
func instanceIn(path, name string) (i Instance, ok bool) {
	for range mostLooks {
		if _, err := os.Lstat(filepath.Join(path, name, metaName)); errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			return Instance{}, false
		}
		id, err := instanceID(filepath.Join(path, name))
		i = Instance{name, id, err}
		if !errors.Is(err, status.Moved) && !errors.Is(err, status.NoState) {
			break
		}
	}
	return i, true
}

func instanceID(path string) (string, error) {
	d, err := Open(path)
	if err != nil {
		return "", err
	}
	defer d.Close()
	m, err := d.Manifest()
	if moved := d.Unmoved(); err != nil && errors.Is(moved, status.Moved) {
		return "", moved
	}
	if err != nil {
		return "", err
	}
	if m.Instance == "" {
		return "", fault(status.NoInstances, path, MoveAway(path, ""), nil)
	}
	return m.Instance, nil
}

// owned refuses the manifest of another instance than the directory is for: the
// directory was renamed, or copied over another one.
func (d *Dir) owned(m *schema.Manifest) error {
	if m.Instance == "" && d.instance == "" {
		return nil
	}
	name, _ := schema.InstanceDir(m.Instance)
	if m.Instance != "" && (d.instance == "" || d.instance == m.Instance) && name == filepath.Base(d.Path()) {
		return nil
	}
	if m.Instance == "" {
		return fault(status.Misplaced, d.Path(), MoveAway(d.Path(), "look at it"), fmt.Errorf("it is a state without instances in the place of the instance %.80q", d.instance))
	}
	right := filepath.Join(filepath.Dir(d.Path()), name)
	remedy := status.Remedy{Tool: []string{"mv", "--", d.Path(), right}, Note: "move it away if it is a copy"}
	if _, err := os.Lstat(right); err == nil {
		remedy = MoveAway(d.Path(), "look at it: the name "+name+" is taken")
	}
	return fault(status.Misplaced, d.Path(), remedy, fmt.Errorf("it holds the instance %.80q, whose directory is called %s", m.Instance, name))
}

// LockShared says, until d is closed, that this process works in the instance, so
// that nobody removes it. It waits as long as somebody else is about to remove
// it, at most for wait, and then returns an error that wraps [status.Busy]; it
// returns one that wraps [status.Moved] if it was removed.
func (d *Dir) LockShared(ctx context.Context, wait time.Duration) error {
	for backoff := lock.NewFairBackoff(0); ; {
		ok, err := d.state.Lock(unix.LOCK_SH)
		if err != nil {
			return err
		}
		if ok {
			return d.Unmoved()
		}
		if more, err := backoff.Pause(ctx, wait); err != nil || !more {
			return errors.Join(fault(status.Busy, d.Path(), byHand("try again"), errors.New("another process is about to remove the instance")), err)
		}
	}
}
