package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// choose returns the directory of the instance that the caller names of the
// state in dir, or dir itself if that is one state.
func (p *place) choose(dir string) (string, error) {
	if !p.chosen.Changed {
		return dir, unchosen(dir)
	}
	if err := schema.CheckInstanceID(p.instance); err != nil { // also with a variable that is not set
		return "", fmt.Errorf("--instance: %w", err)
	}
	if id := instanceOf(dir); id != "" { // found upward from inside of an instance, most likely
		if id == p.instance {
			return dir, nil
		}
		if p.flag.Changed {
			return "", failure.Usage("--dir %s is the instance %s and --instance names another: name the directory that holds both", dir, display.Quote(id))
		}
		dir = filepath.Dir(dir)
	}
	d, err := store.OpenInstance(dir, p.instance)
	if err != nil {
		if _, known := store.GatheringIn(dir); errors.Is(known, sidecar.ErrNoInstances) {
			return "", known
		}
		return "", err
	}
	defer d.Close()
	_, err = d.Manifest()
	return d.Path(), err
}

// each returns the directories of the states that the caller means: of a state
// with instances all of them, unless he names one.
func (p *place) each() (dirs []string, err error) {
	dir, err := p.whole()
	if err != nil {
		return nil, err
	}
	if p.chosen.Changed || unchosen(dir) == nil {
		dir, err = p.choose(dir)
		return []string{dir}, err
	}
	found, err := store.Instances(dir)
	for _, i := range found {
		dirs = append(dirs, filepath.Join(dir, i.Name))
	}
	return dirs, err
}

// unchosen refuses a directory of instances, and says which there are.
func unchosen(dir string) error {
	g, err := store.GatheringIn(dir)
	if err != nil && !errors.Is(err, sidecar.ErrNoState) {
		return nil // one state, or what is wrong shows when it is opened
	}
	found, listErr := store.Instances(dir)
	if listErr != nil {
		return nil
	}
	what := "the state in " + dir + " has instances"
	if err == nil {
		what = fmt.Sprintf("the state %s in %s has an instance per %s", g.State, dir, g.By)
	}
	return failure.Hint(failure.Usage("%s: name one with --instance ID", what), "there are "+listed(found))
}

// mostListed bounds a list of instances in a message.
const mostListed = 20

func listed(found []store.Instance) string {
	if len(found) == 0 {
		return "none yet"
	}
	var ids []string
	for _, i := range found {
		if i.Err == nil {
			ids = append(ids, display.Quote(i.ID))
		}
	}
	if more := len(found) - min(len(ids), mostListed); more > 0 {
		ids = append(ids[:min(len(ids), mostListed)], fmt.Sprintf("and %d more, which `freehold state instances` lists", more))
	}
	return strings.Join(ids, ", ")
}

// instanceOf returns the id of the instance that dir is, or "".
func instanceOf(dir string) string {
	d, err := store.Open(dir)
	if err != nil {
		return ""
	}
	defer d.Close()
	m, err := d.Manifest()
	if err != nil {
		return ""
	}
	return m.Instance
}

// instances returns the ids of the instances, to complete one.
func (p *place) instances() []string {
	dir, err := p.gathering()
	if err != nil {
		return nil
	}
	found, err := store.Instances(dir)
	if err != nil {
		return nil
	}
	var ids []string
	for _, i := range found {
		if i.Err == nil {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// gathering returns the directory that holds all instances, also from inside of
// one of them.
func (p *place) gathering() (string, error) {
	dir, err := p.whole()
	if err == nil && !p.flag.Changed && instanceOf(dir) != "" {
		dir = filepath.Dir(dir)
	}
	return dir, err
}
