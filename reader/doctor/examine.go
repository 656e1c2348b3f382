package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Options for [Examine]. The zero value, and a nil pointer, mean the state alone.
type Options struct {
	// Around says to look for other states too, above, below and beside it.
	Around bool
	// Declaration, if not nil, is compared with the manifest. Declared is the
	// file that it comes from.
	Declaration *schema.Declaration
	Declared    string
	// Legacy is the path of the file that the state was adopted from. Its values
	// are compared with the state's. If it is empty, and Around is set, the files
	// that the provenances name are looked for in the state and beside it.
	Legacy string
	// Stale is the time without a write after which an instance counts as stale.
	// If zero, none does.
	Stale time.Duration
	// Clock tells the age of a file. If nil, [time.Now].
	Clock func() time.Time
	// Progress is called before each of the instances, with how many have been
	// examined and how many there are. If nil, no call.
	Progress func(done, total int)
}

// Examine looks for the faults of the state in dir, or of all instances in it.
// It returns the errors of [store.Open] if there is no state, and that of ctx if
// ctx ended it.
func Examine(ctx context.Context, dir string, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	x := &examination{Options: *o, report: &Report{Dir: path, Findings: []Finding{}, Notes: []Note{}}, ids: map[string]string{}}
	if x.Clock == nil {
		x.Clock = time.Now
	}
	found, err := store.Instances(path)
	switch {
	case err == nil:
		err = x.instances(ctx, found)
	case !errors.Is(err, store.NoState):
		_, err = x.state(ctx, path, "")
	}
	if err != nil {
		return nil, err
	}
	if x.Around {
		x.around()
	}
	x.report.Sort()
	return x.report, nil
}

// An examination is one call of [Examine].
type examination struct {
	Options
	report *Report
	ids    map[string]string // by state id, the path of a state that was looked at
}

// A check is the examination of one state or instance.
type check struct {
	*examination
	path, instance string
	dir            *store.Store
	manifest       *schema.Manifest
	view           *reader.View
	newest         time.Time               // of the last write of a file
	patches        map[string]time.Time    // by path in the state, when it was written
	blocked        map[string]store.Remedy // by owner with a lock that a stopped process holds
}

// find adds a finding about path, which may be relative to the state.
func (c *check) find(code, path, says string, r store.Remedy) *Finding {
	c.report.Findings = append(c.report.Findings, Finding{Code: code, Path: c.at(path), Instance: c.instance, Says: says, Remedy: r})
	return &c.report.Findings[len(c.report.Findings)-1]
}

// fault adds a finding about the error of opening or reading path.
func (c *check) fault(code, path string, err error) *Finding {
	remedy := store.AccessRemedy(err, store.RemedyOf(err))
	if remedy.IsZero() {
		remedy = byHand("give its user the right to read it, or move it away")
	}
	return c.find(code, path, err.Error(), remedy)
}

func (c *check) at(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.path, path)
}

func (c *check) note(about, format string, args ...any) {
	c.report.Notes = append(c.report.Notes, Note{about, c.instance, fmt.Sprintf(format, args...)})
}

// usual adds a note that would be the same of each instance.
func (c *check) usual(about, format string, args ...any) {
	if c.instance == "" {
		c.note(about, format, args...)
	}
}

// state examines one state or instance and returns the time of its last write.
func (x *examination) state(ctx context.Context, path, instance string) (time.Time, error) {
	c := &check{examination: x, path: path, instance: instance, patches: map[string]time.Time{}, blocked: map[string]store.Remedy{}}
	err := c.open()
	switch {
	case errors.Is(err, store.NoState) && instance != "":
		return c.newest, nil // the instance was removed in the meantime
	case errors.Is(err, store.NoState):
		return c.newest, err
	case err != nil:
		c.closed(err)
		c.note("unexamined", "nothing in %s was looked at: mend the directory and look again", path)
		return c.newest, nil
	}
	defer c.dir.Close()
	c.about()
	tryout(c)
	c.losses()
	c.files()
	c.locks()
	c.declared()
	if err := c.read(ctx); err != nil || c.view == nil {
		return c.newest, err
	}
	c.owners()
	c.fields()
	return c.newest, c.legacy(ctx)
}

func (c *check) open() (err error) {
	if c.instance != "" {
		c.dir, err = store.OpenInstance(filepath.Dir(c.path), c.instance)
	} else {
		c.dir, err = store.Open(c.path)
	}
	if err != nil {
		return err
	}
	if c.manifest, err = c.dir.Manifest(); err != nil {
		c.dir.Close()
	}
	return err
}

// closed adds the finding of a state that cannot be opened.
func (c *check) closed(err error) {
	code, path := c.unusable(), c.path
	at, _ := errors.AsType[*store.Error](err)
	_, refused := store.FileSystem(c.path)
	switch {
	case refused:
		code = "network-file-system"
	case errors.Is(err, store.Misplaced):
		code = "misplaced"
	case errors.Is(err, store.ErrInvalidManifest) && at != nil:
		code, path = "manifest-invalid", at.Path
	case errors.Is(err, store.Unsafe):
		code = "directory-unsafe"
	case errors.Is(err, store.ErrIrregular) && code == "state-unreadable":
		c.find("irregular", ".freehold", err.Error(), store.MoveAway(filepath.Join(path, ".freehold"), "put the directory of the state back"))
		return
	}
	f := c.fault(code, path, err)
	if code == "manifest-invalid" && errors.Is(err, store.Invalid) && c.Declared != "" && len(f.Remedy.Tool) == 0 {
		file, _ := filepath.Abs(c.Declared)
		f.Remedy = store.By("state repair", "--owners", file)
	}
}

// unusable returns the code of a state, or of one among several, that cannot be
// opened or read.
func (c *check) unusable() string {
	if c.instance != "" || c.path != c.report.Dir {
		return "instance-odd"
	}
	return "state-unreadable"
}

// about adds the notes about the state as a whole.
func (c *check) about() {
	m := c.manifest
	c.report.State = m.Declaration.State
	if c.ids[m.StateID] == "" {
		c.ids[m.StateID] = c.path
	} else if c.Around {
		c.copies(c.path, m.StateID)
	}
	c.usual("state", "state %s, id %s, in %s", m.Declaration.State, m.StateID, c.path)
	c.release()
	modules(c)
	if m.Pending != nil {
		c.find("upgrade-unfinished", filepath.Join(".freehold", "manifest.json"), "an upgrade of the state was begun and not finished: until then, no process commits", store.By("state upgrade"))
	}
}

// modules adds a finding for each module, after the first, with generated code
// that has opened the state to write.
func modules(c *check) {
	for i, other := range c.manifest.Modules {
		if i > 0 {
			says := fmt.Sprintf("a writer that was generated in module %s has opened the state, and the first one was generated in module %s: two programs with an owners.yaml each write as one owner", other, c.manifest.Modules[0])
			c.find("other-module", filepath.Join(".freehold", "manifest.json"), says, store.By("state repair").Or("generate all programs in one module first, from one owners.yaml"))
		}
	}
}

// release adds the notes about this release and the file system.
func (c *check) release() {
	fileSystem, _ := store.FileSystem(c.path)
	if fileSystem == "tmpfs" {
		fileSystem += ", in memory: a restart takes everything, under every durability"
	}
	c.usual("file-system", "the file system is %s", fileSystem)
	c.usual("publisher", "commits are published by replace: a new file, synced, then renamed over the old one")
	c.usual("format", "manifest format %d, sidecar format %d, generated API %d", schema.ManifestFormat, store.Format, sidecar.GeneratedAPI1)
}

// tryout adds a finding if the next commit could not write.
func tryout(c *check) {
	switch err := c.dir.Probe(c.manifest.Declaration.OwnerNames()); {
	case err == nil:
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		c.find("full", c.path, err.Error(), byHand("free some space on the file system, or some of the quota"))
	case errors.Is(err, syscall.EROFS):
		c.find("not-writable", c.path, err.Error(), byHand("mount the file system read-write"))
	default:
		c.find("not-writable", c.path, err.Error(), store.AccessRemedy(err, byHand("give this user the right to write in the directory")))
	}
}

// read takes a view of the state.
func (c *check) read(ctx context.Context) error {
	open := func() (*reader.Reader, error) { return reader.Open(c.path) }
	if c.instance != "" {
		open = func() (*reader.Reader, error) { return reader.OpenInstance(filepath.Dir(c.path), c.instance, nil) }
	}
	r, err := open()
	if err == nil {
		defer r.Close()
		c.view, err = r.View(ctx)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return err
	default: // the state was moved or upgraded since it was opened
		c.find(c.unusable(), c.path, err.Error(), store.By("doctor"))
	}
	return nil
}

// declared compares the declaration of the caller with the manifest.
func (c *check) declared() {
	if c.Declaration == nil {
		return
	}
	file, _ := filepath.Abs(c.Declared)
	_, more, err := c.manifest.Merge(c.Declaration)
	switch {
	case err != nil:
		c.find("declaration-contradicts", file, err.Error(), store.By("state upgrade", "--owners", file).Or("try the upgrade with --dry-run first"))
		return
	case more:
		c.listed("declaration", c.Declared+" declares more than the state: an upgrade, or the first program that is built from the file, adds these parts", c.Declaration.Beyond(&c.manifest.Declaration))
	default:
		c.note("declaration", "all that %s declares, the state has", c.Declared)
	}
	c.listed("undeclared", c.Declared+" lacks parts of the state: an upgrade removes them with their values", c.manifest.Declaration.Beyond(c.Declaration))
}
