package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// Bounds of a look around, which must end also in a home directory.
const (
	mostBeside  = 2000
	mostBelow   = 20000
	deepestDown = 6
)

// around looks for other states.
func (x *examination) around() {
	p := &patient{examination: x, path: x.report.Dir}
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		return // it was moved away meanwhile
	}
	p.beside(filepath.Dir(real))
	p.below()
	for above, below := filepath.Dir(real), real; above != below; above, below = filepath.Dir(above), above {
		_, err := os.Lstat(filepath.Join(above, ".freehold"))
		if err == nil && !(below == real && p.home(above)) {
			p.other(above, "above")
		}
	}
}

// home reports whether dir is the directory that holds the instance.
func (p *patient) home(dir string) bool {
	_, err := store.GatheringIn(dir)
	return err == nil
}

// gatheringLost reports whether the directory holds instances, and what says so
// cannot be used.
func (p *patient) gatheringLost() bool {
	_, err := store.GatheringIn(p.path)
	return errors.Is(err, store.ErrInvalidManifest)
}

// other says that there is another state in dir.
func (p *patient) other(dir, where string) {
	id := stateID(dir)
	if id != "" && p.ids[id] != "" {
		p.copies(dir, id)
		return
	}
	p.find(Decoy, dir, fmt.Sprintf("there is another state %s: from there, or from below it, a program that looks upward finds that one", where), words("name the one that is meant with --dir or FREEHOLD_DIR, and move the other one away"))
}

// copies says that the state with the id is in dir too.
func (p *patient) copies(dir, id string) {
	for i, f := range p.report.Findings {
		if f.Code == StateCopied && f.Path == p.ids[id] { // which says all but of what
			p.report.Findings[i].Advice = fmt.Sprintf("stop its programs first; it is a copy of the state in %s, or that is one of this: move away the one that is not to count, as what is written to one is not in the other", dir)
			return
		}
	}
	p.find(Copy, dir, fmt.Sprintf("it has the id %s, as the state in %s has: one is a copy, and what is written to one is not in the other", id, p.ids[id]), words("move the copy out of reach, and into an archive if it is a backup"))
}

// stateID returns the id of the state in dir, or "".
func stateID(dir string) string {
	d, err := store.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	m, err := d.Manifest()
	if err != nil {
		return ""
	}
	return m.StateID
}

// beside looks for copies in the directory that holds the state.
func (p *patient) beside(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // then nobody works there by accident
	}
	if len(entries) > mostBeside {
		p.note("around", "there are %d names beside the state: they were not looked at", len(entries))
		return
	}
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		if !e.IsDir() || filepath.Base(p.path) == e.Name() {
			continue
		}
		if id := stateID(dir); id != "" && p.ids[id] != "" {
			p.copies(dir, id)
		}
	}
}

// below looks for states further down.
func (p *patient) below() {
	seen := 0
	known := map[string]bool{p.path: true}
	for _, dir := range p.ids {
		known[dir] = true
	}
	root := strings.Count(p.path, string(filepath.Separator))
	lost := p.gatheringLost() // then the states below are its instances
	filepath.WalkDir(p.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if seen++; seen > mostBelow {
			return fs.SkipAll
		}
		if !e.IsDir() {
			return nil
		}
		if strings.HasPrefix(e.Name(), ".freehold") || strings.Count(path, string(filepath.Separator))-root > deepestDown {
			return fs.SkipDir
		}
		if info, err := os.Lstat(filepath.Join(path, ".freehold")); err == nil && info.IsDir() && !known[path] && !p.examined(path) && !(lost && filepath.Dir(path) == p.path) {
			p.other(path, "below")
		}
		return nil
	})
	if seen > mostBelow {
		p.note("around", "there are more than %d names below the state: not all were looked at", mostBelow)
	}
}

// examined reports whether there is a finding about the directory already.
func (p *patient) examined(dir string) bool {
	for _, f := range p.report.Findings {
		if f.Path == dir {
			return true
		}
	}
	return false
}
