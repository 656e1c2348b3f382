package ownersfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
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
// meanwhile. A window of microseconds remains, since editors take no lock. A file
// with several names stays, too: only one of them would have the new text.
func replaceFile(file string, old, text []byte) error {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	if names := tree.Names(info); names > 1 {
		return store.WithRemedy(failure.Usage("%s has %d names, of which one alone would have the new text: it stays as it is", file, names), store.Remedy{Note: "make it a file of its own"})
	}
	root, err := os.OpenRoot(filepath.Dir(target))
	if err != nil {
		return err
	}
	defer root.Close()
	return tree.Replace(root, filepath.Base(target), text, func(f *os.File) error {
		if err := f.Sync(); err != nil {
			return err
		}
		now, err := tree.Read(target)
		if err == nil && !bytes.Equal(now, old) {
			err = store.WithRemedy(fmt.Errorf("%s was changed meanwhile: it stays as it is now", file), store.Remedy{Note: "run the command again"})
		}
		return err
	})
}
