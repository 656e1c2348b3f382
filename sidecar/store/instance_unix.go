//go:build unix

package store

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
	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// OpenInstance is [Open] for the instance id of the state in dir. It returns an
// error that wraps [schema.ErrInstance] if id cannot be one, and [ErrNoState]
// if there is no such instance.
func OpenInstance(dir, id string) (*Store, error) {
	path, err := instancePath(dir, id)
	if err != nil {
		return nil, err
	}
	d, err := Open(path)
	if errors.Is(err, ErrNoState) {
		at := ShellWord(filepath.Dir(path))
		return nil, fmt.Errorf("%s: %w: there is no instance %.80q: make it with `freehold state init --dir %s --instance %s`, with --owners FILE if it is the first; `freehold state instances --dir %[4]s` lists those that are", path, ErrNoState, id, at, ShellWord(id))
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
// [ErrExists] if the instance is there. Of many processes that create one at
// once, exactly one does. It is there complete or not at all: what a killed
// process leaves, nobody takes for an instance.
func CreateInstance(dir, id string, d *schema.Declaration) error {
	if err := d.Sound(); err != nil {
		return fmt.Errorf("%s: %w: the instance was not made; mend the declaration", dir, err)
	}
	path, err := instancePath(dir, id)
	if err != nil {
		return err
	}
	f, _, err := gather(filepath.Dir(path), d)
	if err != nil {
		return err
	}
	defer f.close()
	err = f.stage(filepath.Base(path), func(fresh *folder) error { return fresh.fill(d, id) })
	if errors.Is(err, ErrExists) {
		if _, lost := os.Lstat(filepath.Join(path, metaName)); errors.Is(lost, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: something else has the name of the instance %.80q: move it away", path, ErrNoState, id)
		}
	}
	return err
}

// fill makes f, which is an instance in the making, a state.
func (f *folder) fill(d *schema.Declaration, id string) error {
	if err := f.mkdir(metaName); err != nil {
		return err
	}
	meta, err := f.openChild(metaName)
	if err != nil {
		return err
	}
	defer meta.close()
	if err := (&Store{path: f.path, state: f, meta: meta}).WriteManifest(newManifest(d, id)); err != nil {
		return err
	}
	return f.sync()
}

// gather opens the directory path that holds the instances of the state
// declared by d, and reports whether it made it.
func gather(path string, d *schema.Declaration) (f *folder, made bool, err error) {
	if !d.Instanced() {
		return nil, false, fmt.Errorf("%s: %w: the state %s is declared so; leave the instance out", path, ErrNoInstances, d.State)
	}
	want := Gathering{schema.ManifestFormat, d.State, d.Instances.By}
	have, err := GatheringIn(path)
	if errors.Is(err, ErrNoState) {
		err = withFolder(path, func(f *folder) error { return f.stage(metaName, want.write) })
		if made = err == nil; made || errors.Is(err, ErrExists) {
			have, err = GatheringIn(path)
		}
	}
	if err != nil {
		return nil, false, err
	}
	if have.State != want.State || have.By != want.By {
		return nil, false, fmt.Errorf("%s: %w: it has the state %s, an instance per %s; here it is %s, an instance per %s: use another directory",
			path, schema.ErrDeclaration, have.State, have.By, want.State, want.By)
	}
	f, err = openSafe(path)
	return f, made, err
}

func (g Gathering) write(meta *folder) error {
	text, err := json.Marshal(g, json.Deterministic(true))
	if err != nil {
		return err
	}
	if err := meta.writeFile(gatherName, append(text, '\n')); err != nil {
		return err
	}
	return meta.sync()
}

// GatheringIn returns what the directory dir says of the instances in it. It
// returns an error that wraps [ErrNoState] if there is no state in dir, and
// [ErrNoInstances] if it is a state without any.
func GatheringIn(dir string) (Gathering, error) {
	d, err := Open(dir)
	if err != nil {
		return Gathering{}, err
	}
	defer d.Close()
	return d.gathering()
}

// maxGathering is the most bytes of the file that says of what the instances
// are; it has three short members.
const maxGathering = 4 << 10

func (d *Store) gathering() (g Gathering, err error) {
	text, err := d.meta.readFile(gatherName, nil, maxGathering)
	if errors.Is(err, fs.ErrNotExist) && !d.gathers() {
		return g, fmt.Errorf("%s: %w: use another directory, or leave the instance out", d.path, ErrNoInstances)
	}
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	path := filepath.Join(d.meta.path, gatherName)
	switch named, ok := errors.AsType[*fs.PathError](err); {
	case ok:
		err = named.Err
	case err != nil:
	case g.Format > schema.ManifestFormat:
		return g, fmt.Errorf("%s: %w: %w", path, ErrInvalidManifest, &schema.FormatError{Found: g.Format})
	case g.Format < schema.ManifestFormat || !schema.ValidName(g.State) || !schema.ValidName(g.By):
		err = errors.New("it has no format, no state or no names of instances")
	}
	if err != nil {
		return g, fmt.Errorf("%s: %w (%v): it says of what the instances beside it are; restore it from a backup, or remove the directory %s if there is none", path, ErrInvalidManifest, err, d.meta.path)
	}
	return g, nil
}

// gathers reports whether d has no manifest, and holds an instance: then the file
// that says so was lost.
func (d *Store) gathers() bool {
	if _, err := d.meta.readFile(manifestName, nil, schema.MaxManifest); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	found, err := instancesIn(d.path)
	return err == nil && slices.ContainsFunc(found, func(i Instance) bool { return i.Err == nil })
}

// Instances lists the instances in the directory dir, by the names of their
// directories. Directories without a .freehold are none. It returns an error
// that wraps [ErrNoState] if nothing in dir, nor dir itself, says that there
// are instances.
func Instances(dir string) ([]Instance, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	_, known := GatheringIn(path)
	if known != nil && !errors.Is(known, ErrNoState) {
		return nil, known
	}
	found, err := instancesIn(path)
	if err != nil {
		return nil, err
	}
	// Without the file that says so, only instances themselves show what dir is.
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
		if !errors.Is(err, ErrReplaced) && !errors.Is(err, ErrNoState) {
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
	if moved := d.Unmoved(); err != nil && errors.Is(moved, ErrReplaced) {
		return "", moved
	}
	if err != nil {
		return "", err
	}
	if m.Instance == "" {
		return "", fmt.Errorf("%s: %w: move it out of the directory, which holds instances", path, ErrNoInstances)
	}
	return m.Instance, nil
}

// owned refuses the manifest of another instance than the directory is for: the
// directory was renamed, or copied over another one.
func (d *Store) owned(m *schema.Manifest) error {
	if m.Instance == "" && d.instance == "" {
		return nil
	}
	name, _ := schema.InstanceDir(m.Instance)
	if m.Instance != "" && (d.instance == "" || d.instance == m.Instance) && name == filepath.Base(d.path) {
		return nil
	}
	if m.Instance == "" {
		return fmt.Errorf("%s: %w: it is a state without instances, where the instance %.80q was to be; move it away", d.path, ErrMisplaced, d.instance)
	}
	return fmt.Errorf("%s: %w: it holds the instance %.80q, whose directory is called %s: rename it back", d.path, ErrMisplaced, m.Instance, name)
}

// Attend says, until d is closed, that this process works in the instance, so
// that nobody removes it. It waits as long as somebody else is about to remove
// it, at most for wait, and then returns an error that wraps [ErrBusy]; it
// returns one that wraps [ErrReplaced] if it was removed.
func (d *Store) Attend(ctx context.Context, wait time.Duration) error {
	for pace := turnPace(0); ; {
		ok, err := d.state.lock(unix.LOCK_SH)
		if err != nil {
			return err
		}
		if ok {
			return d.Unmoved()
		}
		if more, err := pace.Pause(ctx, wait); err != nil || !more {
			return errors.Join(fmt.Errorf("%s: %w: somebody is about to remove the instance; try again", d.path, ErrBusy), err)
		}
	}
}
