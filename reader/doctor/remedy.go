package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A remedy is what to do about a finding.
type remedy struct {
	text    string
	command bool // text is a command that cures it, for a shell
	advice  string
}

// words is the remedy where no command is one.
func words(text string) remedy { return remedy{text: text} }

// but adds what to think of first, or what could be done instead.
func (r remedy) but(advice string) remedy {
	r.advice = advice
	return r
}

// run returns the command that runs freehold on the state.
func (p *patient) run(args ...string) remedy {
	end := slices.Index(args, "--") // flags that come later are none
	if end < 0 {
		end = len(args)
	}
	return shell(slices.Concat([]string{"freehold"}, args[:end], []string{"--dir", p.path}, args[end:])...)
}

// shell returns a command.
func shell(args ...string) remedy {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = store.ShellWord(arg)
	}
	return remedy{text: strings.Join(quoted, " "), command: true}
}

// on returns a command about the file that is called name in the state.
func (p *patient) on(name string, args ...string) remedy {
	return shell(append(args, filepath.Join(p.path, name))...)
}

// away returns the command that moves what is called name out of the state's
// directory, to a name beside it that nothing has.
func (p *patient) away(name string) remedy {
	return shell("mv", "--", filepath.Join(p.path, name), p.spare(filepath.Base(name)))
}

// spare returns a path beside the state that nothing has.
func (p *patient) spare(name string) string {
	return unused(p.path + "." + strings.TrimLeft(name, ".") + ".away")
}

// unused returns path, or if something has it, one that is like it.
func unused(path string) string {
	for {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path += "~"
	}
}

// mended is the remedy of a file that cannot be read for a reason that says
// nothing about what is in it, which is to stay.
func (p *patient) mended(name string, err error, otherwise remedy) remedy {
	if names, _ := namesAndUser(filepath.Join(p.path, name)); names > 1 && errors.Is(err, store.ErrIrregular) {
		return p.unlinked(name)
	}
	return permitted(err, otherwise)
}

// permitted gives the state's user permission for what err says that he has none
// for: a file, or a directory on the way to it. What is another user's, its own
// finding gives him.
func permitted(err error, otherwise remedy) remedy {
	var at *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &at) || !filepath.IsAbs(at.Path) {
		return otherwise
	}
	path := at.Path
	info, statErr := os.Lstat(path)
	for errors.Is(statErr, fs.ErrPermission) { // nobody may look into the directory that it is in
		path = filepath.Dir(path)
		info, statErr = os.Lstat(path)
	}
	_, user := namesAndUser(path)
	switch {
	case statErr != nil || user < 0:
		return otherwise
	case user != store.User():
		return shell("chown", fmt.Sprint(store.User()), path)
	case info.IsDir():
		return shell("chmod", "u+rwx", path)
	}
	return shell("chmod", "u+rw", path)
}

// unlinked puts a copy in the place of a file that has other names too.
func (p *patient) unlinked(name string) remedy {
	path := filepath.Join(p.path, name)
	own := unused(path + ".own")
	return remedy{
		text:    shell("cp", "-p", "--", path, own).text + " && " + shell("mv", "--", own, path).text,
		command: true, advice: "or remove the other names",
	}
}

// renamed returns the command that gives the directory of an instance its name
// back; or that moves it away, if that name is taken or nobody knows it.
func (p *patient) renamed() remedy {
	outer := patient{examination: p.examination, path: filepath.Dir(p.path)}
	away := outer.away(filepath.Base(p.path)).but("look at it first")
	text, err := os.ReadFile(filepath.Join(p.path, ".freehold", "manifest.json"))
	if err != nil {
		return away
	}
	m, err := schema.ParseManifest(text)
	if err != nil || m.Instance == "" {
		return away
	}
	name, err := schema.InstanceDir(m.Instance)
	if err != nil {
		return away
	}
	right := filepath.Join(outer.path, name)
	if _, err := os.Lstat(right); err == nil {
		return away.but("the instance itself is in " + right)
	}
	return shell("mv", "--", p.path, right).but("if it is a copy, move it away instead")
}

// private says what to do about a directory that is not safe.
func private(err error) remedy {
	if r := store.RemedyOf(err); len(r.Tool) > 0 {
		return shell(r.Tool...)
	}
	return words("let the directory, and those above it, belong to the state's user or root, with no one else to write there")
}
