// Package ownersfile has the commands that write or read an owners.yaml, and the
// flag that names one.
package ownersfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Commands returns the commands about an owners.yaml.
func Commands(c *cli.Call) []*cobra.Command {
	return []*cobra.Command{newInit(c), newGen(c), newOwner(c), newField(c), newSchema(c), newBreaking(c)}
}

// Default is the usage of a flag --owners that may be left out.
const Default = "the owners.yaml `FILE` (default the one here, else the one in this module)"

// A Flag is the flag --owners.
type Flag struct {
	cmd  *cobra.Command
	file string
}

// Add declares the flag.
func (f *Flag) Add(cmd *cobra.Command, usage string) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.file, "owners", "", usage)
	cmd.MarkFlagFilename("owners", "yaml")
}

// Given reports whether the caller names an owners.yaml.
func (f *Flag) Given() bool { return f.cmd.Flags().Changed("owners") }

// path returns the path of the one owners.yaml.
func (f *Flag) path() (string, error) {
	switch {
	case f.file != "":
		return inFolder(f.file), nil
	case f.Given():
		return "", failure.Usage("--owners is empty: name a file")
	}
	files, err := declarations()
	if err != nil {
		if len(store.Remedies(err)) == 0 {
			err = store.WithRemedy(err, store.Remedy{Note: "name the owners.yaml with --owners FILE"})
		}
		return "", err
	}
	if len(files) > 1 {
		return "", failure.Usage("this module declares %d states: name one with --owners FILE: %s", len(files), strings.Join(files, ", "))
	}
	return files[0], nil
}

// Read reads the one owners.yaml. It need not be in a module: a state may be
// made where there is no source code.
func (f *Flag) Read() (*declare.Source, error) {
	file, err := f.path()
	if err != nil {
		return nil, err
	}
	return read(file)
}

// Near returns the declaration of a state that is in the working directory or in
// the module around it; or nil.
func Near(state string) *declare.Source {
	files, _ := declarations() // none, if they cannot be found
	for _, file := range files {
		if source, err := read(file); err == nil && source.Declaration.State == state {
			return source
		}
	}
	return nil
}

func read(file string) (*declare.Source, error) {
	text, err := tree.Read(file)
	if err != nil {
		return nil, ofModule(err)
	}
	folder := "."
	if module, err := tree.Find(filepath.Dir(file)); err == nil {
		if folder, err = folderIn(module, file); err != nil {
			return nil, err
		}
	}
	return declare.Parse(file, folder, text)
}

// inFolder returns path, or the owners.yaml in it if it is a folder.
func inFolder(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() && filepath.Base(path) != tree.Declaration {
		return filepath.Join(path, tree.Declaration)
	}
	return path
}

// declarations returns the owners.yaml in the working directory, or else every
// one of the module around it, by paths relative to the working directory.
// There is at least one.
func declarations() ([]string, error) {
	if _, err := os.Stat(tree.Declaration); !errors.Is(err, fs.ErrNotExist) {
		return []string{tree.Declaration}, err
	}
	module, err := tree.Find(".")
	if err != nil {
		return nil, ofModule(err)
	}
	states, err := module.States()
	if err != nil {
		return nil, ofModule(err)
	}
	if len(states) == 0 {
		return nil, store.WithRemedy(failure.Usage("the module %s has no %s", module.Path, tree.Declaration), store.Remedy{Verb: "init"})
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for i, state := range states {
		states[i] = filepath.Join(module.Dir, filepath.FromSlash(state))
		if rel, err := filepath.Rel(here, states[i]); err == nil {
			states[i] = rel
		}
	}
	return states, nil
}

// folderIn returns the folder of file as a slash path relative to the module
// root.
func folderIn(module *tree.Module, file string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	folder, err := filepath.Rel(module.Dir, dir)
	if err != nil || !filepath.IsLocal(folder) {
		return "", failure.Usage("%s is not in the module %s at %s", file, module.Path, module.Dir)
	}
	return filepath.ToSlash(folder), nil
}

// ofModule marks an error about a module or a declaration in it: the caller can
// mend those, as opposed to errors of the operating system.
func ofModule(err error) error {
	_, system := errors.AsType[syscall.Errno](err)
	_, mistakes := errors.AsType[declare.Problems](err)
	if err == nil || system || mistakes {
		return err
	}
	return failure.As(err, failure.Misused)
}
