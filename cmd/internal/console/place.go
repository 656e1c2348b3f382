package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// DirVariable names the state directory where --dir does not.
const DirVariable = "FREEHOLD_DIR"

// An Option is a flag that may be left out, as a value of package flag.
type Option struct {
	Text  string
	Given bool
}

// Set gives the flag a value.
func (o *Option) Set(text string) error {
	o.Text, o.Given = text, true
	return nil
}

func (o *Option) String() string { return o.Text }

// Type returns the word for values of the flag.
func (o *Option) Type() string { return "string" }

// A Place is the state directory of a command.
type Place struct {
	Dir, ID Option // --dir and --instance
	// Looks says that the command changes nothing: root looks at a state as the
	// user that it belongs to, and may.
	Looks bool
}

// Instance returns the id that the caller gave, or false.
func (p *Place) Instance() (id string, ok bool) { return p.ID.Text, p.ID.Given }

// Named returns the absolute path of the state directory that the caller names,
// or false if it names none. A relative path in the environment is refused: to
// every child that changes its directory it would mean another place.
func (p *Place) Named() (dir string, ok bool, err error) {
	switch {
	case p.Dir.Text != "":
		dir, err = filepath.Abs(p.Dir.Text)
		return dir, true, err
	case p.Dir.Given: // with a variable that is not set, most likely
		return "", false, failure.Usage("--dir is empty: name a directory")
	}
	dir = os.Getenv(DirVariable)
	if dir != "" && !filepath.IsAbs(dir) {
		return "", false, failure.Usage("%s is the relative path %q, which means another place in every directory: make it absolute", DirVariable, dir)
	}
	return dir, dir != "", nil
}

// Find returns the state directory: the one named, or else the nearest one from
// the working directory upward; of a state with instances, the directory of the
// one that --instance names. It creates nothing.
func (p *Place) Find() (string, error) {
	dir, err := p.Whole()
	if err != nil {
		return "", err
	}
	return p.Choose(dir)
}

// Whole is [Place.Find] without regard to instances.
func (p *Place) Whole() (string, error) {
	dir, ok, err := p.Named()
	if !ok && err == nil {
		dir, err = Nearest()
	}
	if err == nil && p.Looks {
		asOwner(dir)
	}
	return dir, err
}

// asOwner makes root the user that the directory belongs to, for the rest of the
// process. If that fails, the command says why it may not look.
func asOwner(dir string) {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
		_ = syscall.Setegid(int(st.Gid))
		_ = syscall.Seteuid(int(st.Uid))
	}
}

// Nearest returns the nearest state directory from the working directory upward.
func Nearest() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	// The shell may have come here through a link, and a state directory is
	// never opened through one.
	if physical, err := filepath.EvalSymlinks(here); err == nil {
		here = physical
	}
	return store.Find(here)
}

// Choose returns the directory of the instance that the caller names of the
// state in dir, or dir itself if that is one state.
func (p *Place) Choose(dir string) (string, error) {
	id, ok := p.Instance()
	if !ok {
		return dir, unchosen(dir)
	}
	if err := schema.CheckInstanceID(id); err != nil { // also with a variable that is not set
		return "", fmt.Errorf("--instance: %w", err)
	}
	if here := InstanceOf(dir); here != "" { // found upward from inside of an instance, most likely
		if here == id {
			return dir, nil
		}
		if p.Dir.Given {
			return "", failure.Usage("--dir %s is the instance %s and --instance names another: name the directory that holds both", dir, display.Quote(here))
		}
		dir = filepath.Dir(dir)
	}
	d, err := store.OpenInstance(dir, id)
	if err != nil {
		if _, known := store.GatheringIn(dir); errors.Is(known, store.NoInstances) {
			return "", known
		}
		return "", err
	}
	defer d.Close()
	_, err = d.Manifest()
	return d.Path(), err
}

// Each returns the directories of the states that the caller means: of a state
// with instances all of them, unless --instance names one.
func (p *Place) Each() (dirs []string, err error) {
	dir, err := p.Whole()
	if err != nil {
		return nil, err
	}
	if _, ok := p.Instance(); ok || unchosen(dir) == nil {
		dir, err = p.Choose(dir)
		return []string{dir}, err
	}
	found, err := store.Instances(dir)
	for _, i := range found {
		dirs = append(dirs, filepath.Join(dir, i.Name))
	}
	return dirs, err
}

// unchosen refuses a directory of instances.
func unchosen(dir string) error {
	text := "the state in " + dir + " has instances"
	g, err := store.GatheringIn(dir)
	switch {
	case err == nil:
		text = fmt.Sprintf("the state %s in %s has an instance per %s", g.State, dir, g.By)
	case !errors.Is(err, store.NoState):
		return nil // one state, or the fault shows when it is opened
	default:
		if !store.HoldsInstances(dir) {
			return nil
		}
	}
	return store.WithRemedy(failure.Usage("%s: name one with --instance ID", text), store.Remedy{Verb: "state instances"})
}

// InstanceOf returns the id of the instance that dir is, or "".
func InstanceOf(dir string) string {
	m, err := ManifestIn(dir)
	if err != nil {
		return ""
	}
	return m.Instance
}

// Gathering returns the directory that holds all instances, also from inside of
// one of them.
func (p *Place) Gathering() (string, error) {
	dir, err := p.Whole()
	if err == nil && !p.Dir.Given && InstanceOf(dir) != "" {
		dir = filepath.Dir(dir)
	}
	return dir, err
}

// Manifest reads the manifest of the state.
func (p *Place) Manifest() (*schema.Manifest, error) {
	dir, err := p.Find()
	if err != nil {
		return nil, err
	}
	return ManifestIn(dir)
}

// ManifestIn reads the manifest of the state in dir.
func ManifestIn(dir string) (*schema.Manifest, error) {
	d, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Manifest()
}

// Declaration returns the declaration in the manifest of the state.
func (p *Place) Declaration() (*schema.Declaration, error) {
	m, err := p.Manifest()
	if err != nil {
		return nil, err
	}
	return &m.Declaration, nil
}

// View takes one view of the state.
func (p *Place) View(ctx context.Context) (*reader.View, error) {
	dir, err := p.Find()
	if err != nil {
		return nil, err
	}
	r, err := reader.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.View(ctx)
}
