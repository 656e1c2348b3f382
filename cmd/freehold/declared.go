package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// declared is where a command finds the owners.yaml that it is about.
type declared struct {
	*cli
	file string      // named by the caller
	flag *pflag.Flag // of file
}

func (d *declared) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.file, "owners", "", "the owners.yaml `FILE` (default the one here, else the one in this module)")
	d.mark(cmd)
}

// mark completes the flag --owners.
func (d *declared) mark(cmd *cobra.Command) {
	cmd.MarkFlagFilename("owners", "yaml")
	d.flag = cmd.Flags().Lookup("owners")
}

// path returns the path of the one owners.yaml.
func (d *declared) path() (string, error) {
	switch {
	case d.file != "":
		return inFolder(d.file), nil
	case d.flag.Changed:
		return "", failure.Usage("--owners is empty: name a file")
	}
	files, err := declarations()
	if err != nil && failure.HintOf(err) == "" {
		return "", failure.Hint(err, "or name the owners.yaml that it is about with --owners FILE")
	}
	if err != nil {
		return "", err
	}
	if len(files) > 1 {
		return "", failure.Usage("this module declares %d states: name one with --owners FILE: %s", len(files), strings.Join(files, ", "))
	}
	return files[0], nil
}

// one reads the one owners.yaml. It need not be in a module: a state may be
// made where there is no source code.
func (d *declared) one() (*declare.Source, error) {
	file, err := d.path()
	if err != nil {
		return nil, err
	}
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

// inFolder returns the path of the owners.yaml that path means: itself, or the
// one in it if it is a folder.
func inFolder(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
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
		return nil, failure.Hint(failure.Usage("the module %s has no %s", module.Path, tree.Declaration), "`freehold init` writes a first one")
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for i, state := range states {
		states[i] = relative(here, filepath.Join(module.Dir, filepath.FromSlash(state)))
	}
	return states, nil
}

// relative returns path as seen from the directory here, if that is possible.
func relative(here, path string) string {
	if rel, err := filepath.Rel(here, path); err == nil {
		return rel
	}
	return path
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

// ofModule marks an error about a module or what is declared in it: the caller
// can mend those, as opposed to errors of the operating system.
func ofModule(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return err
	}
	if _, ok := errors.AsType[declare.Problems](err); ok {
		return err
	}
	return failure.As(err, failure.Misused)
}
