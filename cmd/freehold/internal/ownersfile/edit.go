package ownersfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/gen/tree"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// edit changes the one owners.yaml and generates. The change is written only
// if the declaration that it makes has no mistake and its code type-checks;
// until then nothing is touched.
func (f *Flag) edit(ctx context.Context, c *cli.Call, change func(text []byte) ([]byte, error)) error {
	file, err := f.path()
	if err != nil {
		return err
	}
	module, err := tree.Find(filepath.Dir(file))
	if err != nil {
		return ofModule(err)
	}
	folder, err := folderIn(module, file)
	if err != nil {
		return err
	}
	text, err := tree.Read(file)
	if err != nil {
		return ofModule(err)
	}
	changed, err := change(text)
	if err != nil {
		return ofModule(inFile(err, file))
	}
	source, err := declare.Parse(file, folder, changed)
	if err != nil {
		return err
	}
	plans, err := module.Plans([]*declare.Source{source})
	if err != nil {
		return ofModule(err)
	}
	j := job{file, module, source, plans[0]}
	if err := typeCheck(ctx, c, j); err != nil {
		return err
	}
	if err := replaceFile(file, text, changed); err != nil {
		return err
	}
	return apply(c, []job{j})
}

// inFile gives the problems of an edit the name of the file.
func inFile(err error, file string) error {
	problems, ok := errors.AsType[declare.Problems](err)
	if !ok {
		return fmt.Errorf("%s: %w", file, err)
	}
	named := make(declare.Problems, len(problems))
	for i, p := range problems {
		p.File = file
		named[i] = p
	}
	return named
}

// replaceFile replaces a file that people edit: at the end of its links, and with
// its mode. If its text is no longer old, the file stays: an editor has saved it
// meanwhile. A window of microseconds remains, since editors take no lock.
func replaceFile(file string, old, text []byte) (err error) {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	collectEdits(filepath.Dir(target))
	temp, err := os.CreateTemp(filepath.Dir(target), ".owners.*.yaml")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(text)
	err = errors.Join(err, tree.KeepOwner(temp, info, info), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	now, err := tree.Read(target)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return store.WithRemedy(fmt.Errorf("%s was changed meanwhile: it stays as it is now", file), store.Remedy{Note: "run the command again"})
	}
	return os.Rename(temp.Name(), target)
}

// collectEdits removes the files that killed calls of replaceFile have left in dir.
// A living one takes no minute.
func collectEdits(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, ".owners.*.yaml"))
	for _, file := range found {
		number := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), ".owners."), ".yaml")
		info, err := os.Lstat(file)
		if err == nil && info.Mode().IsRegular() && strings.Trim(number, "0123456789") == "" && time.Since(info.ModTime()) > time.Minute {
			os.Remove(file)
		}
	}
}
