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

// Bounds of the search for other states, which ends also in a home directory.
const (
	mostBeside  = 2000
	mostBelow   = 20000
	deepestDown = 6
)

// around looks for other states and copies: beside the state, below and above.
func (x *examination) around() {
	c := &check{examination: x, path: x.report.Dir}
	real, err := filepath.EvalSymlinks(c.path)
	if err != nil {
		return // the state was moved in the meantime
	}
	c.beside(filepath.Dir(real))
	c.below()
	for above, below := filepath.Dir(real), real; above != below; above, below = filepath.Dir(above), above {
		_, err := os.Lstat(filepath.Join(above, ".freehold"))
		_, single := store.GatheringIn(above)
		if err == nil && (below != real || single != nil) { // else it holds this instance
			c.other(above, "above")
		}
	}
}

// other adds a finding of another state in dir.
func (c *check) other(dir, where string) {
	if !c.copyIn(dir) {
		says := fmt.Sprintf("there is another state %s: from there, or from below it, a program that looks upward finds that one", where)
		c.find("decoy", dir, says, byHand("name the state with --dir or FREEHOLD_DIR, and move the other one away"))
	}
}

// copyIn reports whether dir holds a copy of a state that was examined, and adds
// a finding of it.
func (c *check) copyIn(dir string) bool {
	d, err := store.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	m, err := d.Manifest()
	if err != nil || c.ids[m.StateID] == "" {
		return false
	}
	c.copies(dir, m.StateID)
	return true
}

// copies adds the finding that the state with the id is in dir too.
func (c *check) copies(dir, id string) {
	for i, f := range c.report.Findings {
		if f.Code == "state-copied" && f.Path == c.ids[id] {
			c.report.Findings[i].Remedy.Note = fmt.Sprintf("stop its programs first; it is a copy of the state in %s, or that is one of this: move away the one that is not to count, as a commit to one is not in the other", dir)
			return
		}
	}
	says := fmt.Sprintf("it has the id %s, as the state in %s has: one is a copy, and a commit to one is not in the other", id, c.ids[id])
	c.find("copy", dir, says, byHand("move the copy out of reach, and into an archive if it is a backup"))
}

// beside looks for copies in the directory that holds the state.
func (c *check) beside(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // no program works there by accident
	}
	if len(entries) > mostBeside {
		c.note("around", "there are %d names beside the state: they were not looked at", len(entries))
		return
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != filepath.Base(c.path) {
			c.copyIn(filepath.Join(parent, e.Name()))
		}
	}
}

// below looks for states further down.
func (c *check) below() {
	known := map[string]bool{c.path: true}
	for _, dir := range c.ids {
		known[dir] = true
	}
	for _, f := range c.report.Findings {
		known[f.Path] = true
	}
	_, err := store.GatheringIn(c.path)
	instances := errors.Is(err, store.ErrInvalidManifest) // the states in it are the instances of one that lost its record
	seen := 0
	filepath.WalkDir(c.path, func(path string, e fs.DirEntry, err error) error {
		seen++
		below, _ := filepath.Rel(c.path, path)
		switch {
		case seen > mostBelow:
			return fs.SkipAll
		case err == nil && !e.IsDir():
			return nil
		case err != nil, strings.HasPrefix(e.Name(), ".freehold"), strings.Count(below, "/") >= deepestDown:
			return fs.SkipDir
		}
		info, err := os.Lstat(filepath.Join(path, ".freehold"))
		if err == nil && info.IsDir() && !known[path] && !(instances && !strings.Contains(below, "/")) {
			c.other(path, "below")
		}
		return nil
	})
	if seen > mostBelow {
		c.note("around", "there are more than %d names below the state: not all were looked at", mostBelow)
	}
}
