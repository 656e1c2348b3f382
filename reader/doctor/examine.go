package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Options for [Examine]. The zero value, and a nil pointer, look at the state
// alone.
type Options struct {
	// Around says to look for other states too, above, below and beside it.
	Around bool
	// Declaration, if not nil, is compared with the manifest, and Declared
	// names the file that it comes from.
	Declaration *schema.Declaration
	Declared    string
	// Legacy is the path of the file that the state was adopted from, whose
	// values are compared with the state's. If empty, and Around, the files
	// that the state says it was adopted from are looked for beside it and in
	// it.
	Legacy string
	// Stale is how long nobody must have written an instance for it to
	// count as stale. If zero, none does.
	Stale time.Duration
	// Clock tells how old something is. If nil, [time.Now].
	Clock func() time.Time
}

// Examine looks the state in dir over, or all instances in it. It returns an
// error only if there is nothing to look at, and those of [store.Open] then;
// or if ctx ended it.
func Examine(ctx context.Context, dir string, o *Options) (*Report, error) {
	if o == nil {
		o = &Options{}
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	x := &examination{Options: *o, report: &Report{Dir: path, Findings: []Finding{}, Notes: []Note{}}}
	if x.Clock == nil {
		x.Clock = time.Now
	}
	found, err := store.Instances(path)
	switch {
	case err == nil:
		err = x.instances(ctx, found)
	case errors.Is(err, store.NoState):
		return nil, err
	default:
		err = x.state(ctx, path, "")
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

// An examination is one Examine.
type examination struct {
	Options
	report *Report
	ids    map[string]string // paths of what was looked at, by state id
}

// A patient is one state that is looked at.
type patient struct {
	*examination
	path, instance string
	dir            *store.Store
	manifest       *schema.Manifest
	view           *reader.View
	newest         time.Time // when anything in it was written last
	lostClaims     map[string]bool
	lostPending    map[string]bool
	patches        map[string]time.Time // deferred, by OWNER/NAME: when they were written
	blocked        map[string]remedy    // owners whose lock a process has that does not run, and what to do about it
}

// find adds a finding about the path, which may be relative to the state.
func (p *patient) find(code Code, path, says string, do remedy) *Finding {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.path, path)
	}
	p.report.Findings = append(p.report.Findings, Finding{
		Code: code, Path: path, Instance: p.instance, Says: says, Remedy: do.text, Command: do.command, Advice: do.advice,
	})
	return &p.report.Findings[len(p.report.Findings)-1]
}

func (p *patient) note(about, format string, args ...any) {
	p.report.Notes = append(p.report.Notes, Note{about, p.instance, fmt.Sprintf(format, args...)})
}

// usual is note for what goes without saying of each of many instances.
func (p *patient) usual(about, format string, args ...any) {
	if p.instance == "" {
		p.note(about, format, args...)
	}
}

// state looks at one state, or instance.
func (x *examination) state(ctx context.Context, path, instance string) error {
	return (&patient{examination: x, path: path, instance: instance}).look(ctx)
}

func (p *patient) look(ctx context.Context) error {
	err := p.open()
	if errors.Is(err, store.NoState) {
		if p.instance == "" {
			return err
		}
		return nil // it was removed meanwhile
	}
	if err != nil {
		p.closed(err)
		p.note("unexamined", "nothing in %s was looked at, because of what is wrong with the directory: mend that and look again", p.path)
		return nil
	}
	defer p.dir.Close()
	p.about()
	p.lost()
	p.files()
	p.leases()
	p.locks()
	p.declared()
	if err := p.read(ctx); err != nil {
		return err
	}
	if p.view == nil {
		return nil
	}
	p.owners()
	p.fields()
	return p.legacy(ctx)
}

func (p *patient) open() (err error) {
	if p.instance != "" {
		p.dir, err = store.OpenInstance(filepath.Dir(p.path), p.instance)
	} else {
		p.dir, err = store.Open(p.path)
	}
	if err != nil {
		return err
	}
	if p.manifest, err = p.dir.Manifest(); err != nil {
		p.dir.Close()
	}
	return err
}

// closed says why a state cannot be looked into.
func (p *patient) closed(err error) {
	name, refused := store.FileSystem(p.path)
	switch {
	case refused:
		p.find(NetworkFileSystem, p.path, fmt.Sprintf("it is on %s, where locks do not reach every user of the directory", name), words("keep the state on a local disk"))
	case errors.Is(err, store.Misplaced):
		p.find(Misplaced, p.path, err.Error(), p.renamed())
	case errors.Is(err, store.NoInstances):
		outer := patient{examination: p.examination, path: filepath.Dir(p.path)}
		p.find(InstanceOdd, p.path, err.Error(), outer.away(filepath.Base(p.path)))
	case errors.As(err, new(*schema.FormatError)):
		p.find(ManifestInvalid, p.path, err.Error(), words("use the release that wrote it"))
	case p.gatheringLost():
		p.find(ManifestInvalid, filepath.Join(".freehold", "instances.json"), err.Error(), words("restore it from a backup, or remove the directory .freehold if there is none: the next instance that is made makes it anew"))
	case errors.Is(err, store.ErrInvalidManifest):
		manifest := filepath.Join(".freehold", "manifest.json")
		p.find(ManifestInvalid, manifest, err.Error(), p.mended(manifest, err, words("restore .freehold from a backup, or move the sidecars away and create the state anew")))
	case errors.Is(err, store.Unsafe):
		p.find(DirectoryUnsafe, p.path, err.Error(), private(err))
	case errors.Is(err, store.ErrIrregular) && !p.inner():
		p.find(Irregular, ".freehold", err.Error(), p.away(".freehold").but("look at it first: unless the directory comes back that should be there, no state is left here"))
	default:
		p.find(p.unusableDirectory(), p.path, err.Error(), p.opened(err, "let its user read it, or move it away"))
	}
}

// opened gives the state's user permission to look at it, if it is his; else otherwise
// says what to do.
func (p *patient) opened(err error, otherwise string) remedy {
	if _, user := namesAndUser(p.path); user != store.User() {
		return words(otherwise)
	}
	return permitted(err, words(otherwise))
}

// inner reports whether the state is one of several that are looked at, so that
// one of them which cannot be used is odd among the others.
func (p *patient) inner() bool { return p.instance != "" || p.path != p.report.Dir }

// unusableDirectory is the code for a state, or an instance, that cannot be
// looked into.
func (p *patient) unusableDirectory() Code {
	if p.inner() {
		return InstanceOdd
	}
	return StateUnreadable
}

// about notes what anybody wants to know first.
func (p *patient) about() {
	m := p.manifest
	p.report.State = m.Declaration.State
	if p.ids == nil {
		p.ids = map[string]string{}
	}
	if p.ids[m.StateID] == "" {
		p.ids[m.StateID] = p.path
	} else if p.Around {
		p.copies(p.path, m.StateID)
	}
	p.usual("state", "state %s, id %s, in %s", m.Declaration.State, m.StateID, p.path)
	p.how()
	if m.Pending != nil {
		p.find(UpgradeUnfinished, filepath.Join(".freehold", "manifest.json"), "an upgrade of the state was begun and not finished, and until then nobody commits", p.run("state", "upgrade"))
	}
}

// how notes how this release works in the directory.
func (p *patient) how() {
	fileSystem, _ := store.FileSystem(p.path)
	p.usual("file-system", "the file system is %s", fileSystem)
	p.usual("publisher", "commits are published by replace: a new file, synced, then renamed over the old one")
	p.usual("format", "manifest format %d, sidecar format %d, generated API %d", schema.ManifestFormat, store.Format, sidecar.GeneratedAPI1)
}

// read takes a view of the state.
func (p *patient) read(ctx context.Context) error {
	var r *reader.Reader
	var err error
	if p.instance != "" {
		r, err = reader.OpenInstance(filepath.Dir(p.path), p.instance, nil)
	} else {
		r, err = reader.Open(p.path)
	}
	if err == nil {
		defer r.Close()
		p.view, err = r.View(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil { // it was moved away, or upgraded, since it was opened
		p.find(p.unusableDirectory(), p.path, err.Error(), p.run("doctor"))
	}
	return nil
}

// lost says which locks and directories are not those made with the state.
func (p *patient) lost() {
	p.lostClaims, p.lostPending = map[string]bool{}, map[string]bool{}
	lost := p.dir.Lost(p.manifest)
	copied := p.moved(lost)
	for _, l := range lost {
		code := LockLost
		switch l.Role {
		case "claims":
			code, p.lostClaims[l.Owner] = ClaimsLost, true
		case "pending":
			code, p.lostPending[l.Owner] = PendingLost, true
		}
		if copied || errors.Is(l.Err, store.Unsafe) { // who may write there is said of each directory
			continue
		}
		p.find(code, l.Name, l.Err.Error(), permitted(l.Err, p.run("state", "repair"))).Owner = l.Owner
	}
}

// moved reports whether none of the files and directories is there any more that
// the manifest knows by their inodes, and others are in their places, and says
// so once: that is what a copy looks like.
func (p *patient) moved(lost []store.Entry) bool {
	known, others := 1, 0 // the state's lock
	for _, o := range p.manifest.Declaration.Owners {
		known++
		if o.EffectiveMode() == schema.Exclusive {
			known += 2
		}
		if o.Claims() {
			known++
		}
	}
	for _, l := range lost {
		if l.Role == "pending" {
			continue
		}
		known--
		if _, err := os.Lstat(filepath.Join(p.path, l.Name)); err == nil {
			others++
		}
	}
	if known > 0 || others == 0 {
		return false
	}
	advice := "stop its programs first; if the state that it was copied from is in use, move this one away instead: what is written to one is not in the other"
	p.find(StateCopied, p.path, "the state was copied, or restored from a backup, to this place: none of its lock files and directories of claims is the one that was made with it", p.run("state", "repair").but(advice))
	return true
}
