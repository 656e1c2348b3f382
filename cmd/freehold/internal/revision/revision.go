// Package revision reads the declarations of a module as they were: at a commit of
// Git, in a directory or in a file. Every fault is an error: no declaration that could
// not be read counts as absent.
package revision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
)

// A Revision is a module as it was.
type Revision struct {
	// Name for messages: main, v1.2, ../other.
	Name string
	// Sources are the declarations of all states.
	Sources []*declare.Source
	// Top is the root of the Git work tree, or "".
	Top string
	// Notes are doubts about the comparison.
	Notes []string
}

// Load reads the declarations of module at ref: those of the commit at which a
// branch, tag or commit parted from HEAD, or those in a directory or file as they
// are. now has the declarations of today: a file alone does not say where in a module
// it stood, and counts as where the same state is.
func Load(ctx context.Context, module *tree.Module, ref string, now []*declare.Source) (*Revision, error) {
	switch {
	case ref == "":
		return nil, failure.Usage("--against is empty: name a branch, a tag, a commit, a directory or a file")
	case strings.HasPrefix(ref, "-"):
		return nil, failure.Usage("--against %s begins with -, as a flag does: name a branch, a tag, a commit, or a path with ./", ref)
	}
	info, err := os.Stat(ref)
	isPath := err == nil
	r, err := open(ctx, module.Dir)
	if isPath {
		if err == nil && !strings.ContainsRune(ref, filepath.Separator) {
			if _, err := r.commit(ctx, ref); err == nil {
				return nil, failure.Usage("%s is a path and a revision: write ./%s or refs/heads/%s", ref, ref, ref)
			}
		}
		return onDisk(module, ref, info, now)
	}
	if err != nil {
		return nil, err
	}
	return r.revision(ctx, ref, now)
}

func (r *repository) revision(ctx context.Context, ref string, now []*declare.Source) (*Revision, error) {
	commit, err := r.commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	base, known, err := r.base(ctx, ref, commit)
	if err != nil {
		return nil, err
	}
	old := &Revision{Name: ref, Top: r.top}
	if !known {
		old.Notes = append(old.Notes, fmt.Sprintf("the clone is shallow and does not say where HEAD and %s parted: compared with %s itself", ref, ref))
	}
	files, err := r.list(ctx, base)
	if err != nil {
		return nil, err
	}
	paths, err := old.declarations(r.dir, files, now)
	if err != nil {
		return nil, err
	}
	texts, err := r.read(ctx, ref, base, paths)
	if err != nil {
		return nil, err
	}
	var mistakes declare.Problems
	for i, name := range paths {
		src, err := declare.Parse(ref+":"+r.prefix+name, path.Dir(name), texts[i])
		if problems, ok := errors.AsType[declare.Problems](err); ok {
			mistakes = append(mistakes, problems...)
			continue
		}
		old.Sources = append(old.Sources, src)
	}
	if mistakes != nil {
		return nil, mistakes
	}
	return old, nil
}

// declarations returns the paths of the owners.yaml among files, as Go's tools and
// [tree.Module.States] see a module.
func (v *Revision) declarations(dir string, files []blob, now []*declare.Source) (paths []string, err error) {
	nested := map[string]bool{}
	for _, f := range files {
		if path.Base(f.path) == "go.mod" && f.path != "go.mod" {
			nested[path.Dir(f.path)] = true
		}
	}
	for _, f := range files {
		switch {
		case passedOver(f.path, nested):
		case f.mode == submoduleMode:
			for _, src := range now {
				if strings.HasPrefix(src.Folder+"/", f.path+"/") {
					return nil, failure.Usage("cannot compare: %s:%s is a submodule, and %s is in it: run this there", v.Name, f.path, src.File)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f.path))); errors.Is(err, fs.ErrNotExist) {
				v.Notes = append(v.Notes, fmt.Sprintf("%s:%s was a submodule: states that were declared in it were not compared", v.Name, f.path))
			}
		case path.Base(f.path) == tree.Declaration:
			paths = append(paths, f.path)
		}
	}
	return paths, nil
}

// passedOver reports whether a file is in a folder that is no part of the module.
func passedOver(name string, nested map[string]bool) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if tree.PassedOver(path.Base(dir)) || nested[dir] {
			return true
		}
	}
	return false
}

// onDisk reads the declarations in a directory or a file.
func onDisk(module *tree.Module, ref string, info fs.FileInfo, now []*declare.Source) (*Revision, error) {
	v := &Revision{Name: ref}
	if !info.IsDir() {
		src, err := placed(ref, ref, "", now)
		if err == nil {
			v.Sources = append(v.Sources, src)
		}
		return v, err
	}
	dir, err := filepath.Abs(ref)
	if err != nil {
		return nil, err
	}
	// A directory says where a declaration stands if it is in another module.
	other, err := tree.Find(dir)
	elsewhere := err == nil && other.Dir != module.Dir
	files, err := (&tree.Module{Dir: dir}).States()
	if err != nil {
		return nil, err
	}
	var mistakes declare.Problems
	for _, name := range files {
		folder := ""
		if file := filepath.Join(dir, filepath.FromSlash(name)); elsewhere {
			if folder, err = filepath.Rel(other.Dir, filepath.Dir(file)); err != nil {
				return nil, err
			}
		}
		src, err := placed(filepath.Join(dir, filepath.FromSlash(name)), path.Join(filepath.ToSlash(ref), name), filepath.ToSlash(folder), now)
		if problems, ok := errors.AsType[declare.Problems](err); ok {
			mistakes = append(mistakes, problems...)
			continue
		}
		if err != nil {
			return nil, err
		}
		v.Sources = append(v.Sources, src)
	}
	switch {
	case mistakes != nil:
		return nil, mistakes
	case len(v.Sources) == 0:
		return nil, failure.Usage("cannot compare: the directory %s has no %s", ref, tree.Declaration)
	}
	return v, nil
}

// placed reads file, which messages call name, as the declaration in folder; if that
// is empty, in the folder where the same state is declared now.
func placed(file, name, folder string, now []*declare.Source) (*declare.Source, error) {
	text, err := tree.Read(file)
	if err != nil {
		return nil, failure.As(fmt.Errorf("cannot compare: %w", err), failure.Misused)
	}
	if folder != "" {
		return declare.Parse(name, folder, text)
	}
	src, err := declare.Parse(name, ".", text)
	for _, today := range now {
		if src, err := declare.Parse(name, today.Folder, text); err == nil && src.Declaration.State == today.Declaration.State {
			return src, nil
		}
	}
	return src, err
}
