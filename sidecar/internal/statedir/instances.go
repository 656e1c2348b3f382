package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/dir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const (
	// gatherName is the file in the .freehold of a directory that holds instances.
	gatherName = "instances.json"
	// maxGathering bounds that file, in bytes; it has three short members.
	maxGathering = 4 << 10
)

// A Gathering is the record of a directory that holds instances. There is no
// manifest beside it, so that no program takes the directory for one state.
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
	// Err is the reason why the instance cannot be used; then ID is empty.
	Err error
}

// OpenInstance is [Open] for the instance id of the state in path.
func OpenInstance(path, id string) (*Dir, error) {
	path, err := instancePath(path, id)
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

func instancePath(path, id string) (string, error) {
	name, err := schema.InstanceDir(id)
	if err != nil {
		return "", err
	}
	path, err = filepath.Abs(path)
	return filepath.Join(path, name), err
}

// CreateInstance makes the instance id of the state in path, as package store
// says.
func CreateInstance(path, id string, d *schema.Declaration) (err error) {
	if err := d.Sound(); err != nil {
		return status.With(fmt.Errorf("%s: the instance was not made: %w", path, err), byHand("mend the declaration"))
	}
	path, err = instancePath(path, id)
	if err != nil {
		return err
	}
	var made []string
	if d.Instanced() {
		made, err = makeAll(filepath.Dir(path))
		defer func() { remove(made, err) }()
		if err != nil {
			return err
		}
	}
	f, gathered, err := gather(filepath.Dir(path), d)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = syncParents(made); err == nil {
		err = stage(f, filepath.Base(path), func(fresh *dir.Dir) error { return fillInstance(fresh, d, id) })
	}
	if err != nil && gathered {
		err = unmake(f, metaName, err)
	}
	if errors.Is(err, status.Exists) {
		if _, lost := os.Lstat(filepath.Join(path, metaName)); errors.Is(lost, fs.ErrNotExist) {
			return fault(status.NoState, path, byHand("move it away"), fmt.Errorf("a file or directory has the name of the instance %.80q", id))
		}
	}
	return err
}

// fillInstance makes a directory in the making the state of an instance.
func fillInstance(fresh *dir.Dir, d *schema.Declaration, id string) error {
	if err := fresh.Mkdir(metaName); err != nil {
		return err
	}
	meta, err := fresh.OpenChild(metaName)
	if err != nil {
		return err
	}
	defer meta.Close()
	if err := (&Dir{state: fresh, meta: meta}).WriteManifest(newManifest(d, id)); err != nil {
		return err
	}
	return fresh.Sync()
}

// gather opens the directory of the instances of d, and reports whether it made
// the directory.
func gather(path string, d *schema.Declaration) (f *dir.Dir, made bool, err error) {
	if !d.Instanced() {
		return nil, false, fault(status.NoInstances, path, byHand("leave the instance out"), fmt.Errorf("the state %s is declared so", d.State))
	}
	want := Gathering{schema.ManifestFormat, d.State, d.Instances.By}
	have, err := GatheringIn(path)
	if errors.Is(err, status.NoState) {
		err = withDir(path, func(at *dir.Dir) (err error) {
			if f, err = openSafe(path); err != nil { // nothing is made yet
				return err
			}
			return stage(at, metaName, want.write)
		})
		if made = err == nil; made {
			have = want
		} else if errors.Is(err, status.Exists) {
			have, err = GatheringIn(path)
		}
	}
	defer func() {
		if err != nil && f != nil {
			f.Close()
			f = nil
		}
	}()
	if err != nil {
		return f, false, err
	}
	if have.State != want.State || have.By != want.By {
		return f, false, fault(status.Declaration, path, byHand("use another directory"), fmt.Errorf("%w: the directory has the state %s, an instance per %s; declared is %s, an instance per %s",
			schema.ErrDeclaration, have.State, have.By, want.State, want.By))
	}
	if f == nil {
		f, err = openSafe(path)
	}
	return f, made, err
}

func (g Gathering) write(meta *dir.Dir) error {
	text, err := json.Marshal(g, json.Deterministic(true))
	if err != nil {
		return err
	}
	if err := meta.WriteFile(gatherName, append(text, '\n')); err != nil {
		return err
	}
	return meta.Sync()
}

// GatheringIn returns the record of the directory path. It returns an error
// that wraps [status.NoState] or [status.NoInstances] if there is none.
func GatheringIn(path string) (Gathering, error) {
	d, err := Open(path)
	if err != nil {
		return Gathering{}, err
	}
	defer d.Close()
	return d.gathering()
}

func (d *Dir) gathering() (g Gathering, err error) {
	text, err := d.meta.ReadFile(gatherName, nil, maxGathering)
	if errors.Is(err, fs.ErrNotExist) && !gathers(d) {
		return g, fault(status.NoInstances, d.Path(), byHand("use another directory, or leave the instance out"), nil)
	}
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	path := d.meta.Join(gatherName)
	switch named, ok := errors.AsType[*fs.PathError](err); {
	case ok:
		err = named.Err
	case err != nil:
	case g.Format > schema.ManifestFormat:
		return g, fault(status.Newer, path, byHand(UseNewer), fmt.Errorf("%w: %w", ErrInvalidManifest, &schema.FormatError{Found: g.Format}))
	case g.Format < schema.ManifestFormat || !schema.ValidName(g.State) || !schema.ValidName(g.By):
		err = errors.New("it has no format, no state or no names of instances")
	}
	if err != nil { // the cause is not wrapped: a missing file is no missing state
		return g, fault(status.Invalid, path, byHand(fmt.Sprintf("restore it from a backup, or remove the directory %s if there are no instances beside it", d.meta.Path())), fmt.Errorf("%w (%v): it describes the instances beside it", ErrInvalidManifest, err))
	}
	return g, nil
}

// gathers reports whether d has an instance and no manifest, so that its record
// was lost.
func gathers(d *Dir) bool {
	if _, err := d.meta.ReadFile(manifestName, nil, schema.MaxManifest); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return HoldsInstances(d.Path())
}

// HoldsInstances reports whether one instance stands in the directory path. It
// looks at no more of them than it must.
func HoldsInstances(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		i, ok := Instance{}, false
		if schema.ValidInstanceDir(e.Name()) {
			i, ok = instanceIn(path, e.Name())
		}
		return ok && i.usable()
	})
}

func (i Instance) usable() bool { return i.Err == nil }

// Instances lists the instances in the directory path, as package store says.
func Instances(path string) ([]Instance, error) {
	path, err := filepath.Abs(path)
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
	// Without the record, only an instance shows that path holds instances.
	if known != nil && !slices.ContainsFunc(found, Instance.usable) {
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
	looked := make([]*Instance, len(entries))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for n, e := range entries {
		if !schema.ValidInstanceDir(e.Name()) {
			continue
		}
		g.Go(func() error {
			if i, ok := instanceIn(path, e.Name()); ok {
				looked[n] = &i
			}
			return nil
		})
	}
	err = g.Wait()
	for _, i := range looked {
		if i != nil {
			found = append(found, *i)
		}
	}
	return found, err
}

// mostLooks bounds the looks for an instance that is removed or made anew
// meanwhile.
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

// owned returns an error if the directory was renamed, or copied over another
// instance.
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
	return fault(status.Misplaced, d.Path(), remedy, fmt.Errorf("it holds the instance %.80q, in a directory called %s", m.Instance, name))
}
