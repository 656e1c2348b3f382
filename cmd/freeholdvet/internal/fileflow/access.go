package fileflow

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// An Op is the operation of a call on a file.
type Op int

const (
	// Read reads the whole file.
	Read Op = iota
	// Open opens a file for reading through the handle.
	Open
	// Update opens a file for reading and for writing anywhere.
	Update
	// Replace gives the file a new content.
	Replace
	// Change appends to the file, or creates, moves, links or removes it.
	Change
)

// An access is an operation of a call on one file.
type access struct {
	op   Op
	path ssa.Value
	root ssa.Value // the directory that path is relative to, or nil
}

// An effect is an access of any call of a function: path is the index of the
// argument, not counting a receiver, flags that of the flags of an open call, 0
// if it has none; rooted says that the first argument is the directory.
type effect struct {
	op          Op
	path, flags int
	rooted      bool
}

var (
	reads    = []effect{{op: Read}}
	opens    = []effect{{op: Open}}
	byFlags  = []effect{{flags: 1}}
	replaces = []effect{{op: Replace}}
	changes  = []effect{{op: Change}}
	moves    = []effect{{op: Change}, {op: Replace, path: 1}}
	links    = []effect{{op: Change}, {op: Change, path: 1}}
	symlinks = []effect{{op: Change, path: 1}}
	inPlace  = []effect{{op: Read}, {op: Replace}}
	tempFile = []effect{{op: Replace, path: 1}}
)

// A group is functions that do the same in several packages or types.
type group struct {
	in        []string
	functions map[string][]effect
}

// groups lists the functions that access files.
var groups = []group{
	{[]string{"os", "(*os.Root)", "io/ioutil"}, map[string][]effect{
		"Open": opens, "ReadFile": reads, "WriteFile": replaces, "Create": replaces, "OpenFile": byFlags,
		"Rename": moves, "Link": links, "Symlink": symlinks, "Remove": changes, "RemoveAll": changes,
		"Truncate": changes, "Mkdir": changes, "MkdirAll": changes, "CopyFS": changes,
		"OpenInRoot": {{op: Open, path: 1, rooted: true}},
	}},
	{[]string{"io/fs"}, map[string][]effect{"ReadFile": {{op: Read, path: 1, rooted: true}}}},
	{[]string{
		"github.com/google/renameio", "github.com/google/renameio/maybe",
		"github.com/google/renameio/v2", "github.com/google/renameio/v2/maybe",
	}, map[string][]effect{"WriteFile": replaces, "TempFile": tempFile, "NewPendingFile": replaces, "Symlink": symlinks}},
	{[]string{"github.com/natefinch/atomic"}, map[string][]effect{"WriteFile": replaces, "ReplaceFile": moves}},
	{[]string{"github.com/rogpeppe/go-internal/lockedfile"}, map[string][]effect{
		"Open": opens, "OpenFile": byFlags, "Read": reads, "Write": replaces, "Create": replaces,
		"Edit": {{op: Update}}, "Transform": inPlace,
	}},
	{[]string{"syscall", "golang.org/x/sys/unix"}, map[string][]effect{
		"Open": byFlags, "Link": links, "Rename": moves, "Symlink": symlinks, "Truncate": changes, "Unlink": changes,
	}},
}

// functions returns the effects by the full names of the functions.
var functions = sync.OnceValue(func() map[string][]effect {
	all := map[string][]effect{}
	for _, group := range groups {
		for _, in := range group.in {
			for name, effects := range group.functions {
				all[in+"."+name] = effects
			}
		}
	}
	return all
})

// Imported reports whether pkg imports a package with functions that access files.
func Imported(pkg *types.Package) bool {
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool {
		return p.Path() == "os/exec" || slices.ContainsFunc(groups, func(g group) bool { return slices.Contains(g.in, p.Path()) })
	})
}

// accesses returns the operations of a call on files; none if the function that
// it calls is not one of those known.
func (t *Tracer) accesses(call ssa.CallInstruction) (all []access) {
	fn, args := t.Callee(call.Common())
	effects := functions()[program.Name(fn)]
	if effects == nil {
		return nil
	}
	var root ssa.Value
	if fn.Signature.Recv() != nil || strings.HasPrefix(program.Name(fn), "(") {
		root, args = args[0], args[1:]
	}
	for _, e := range effects {
		a := access{e.op, args[e.path], root}
		if e.rooted {
			a.root = args[0]
		}
		if e.flags == 0 {
			all = append(all, a)
			continue
		}
		for _, a.op = range t.opened(args[e.flags]) {
			all = append(all, a)
		}
	}
	return all
}

// opened returns the operations that opening with flags is, by the constants of
// the system that the code is for. Flags that are not constant may be any, and
// stand for none.
func (t *Tracer) opened(flags ssa.Value) []Op {
	c, ok := t.Origin(flags).(*ssa.Const)
	if !ok || c.Value == nil {
		return nil
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			bit := t.openFlag(name)
			return bit != nil && constant.Sign(constant.BinaryOp(c.Value, token.AND, bit)) != 0
		})
	}
	switch write := has("O_WRONLY", "O_RDWR"); {
	case !write && !has("O_CREATE", "O_CREAT"):
		return []Op{Open}
	case write && has("O_TRUNC") && !has("O_EXCL"):
		return []Op{Replace}
	case has("O_RDWR") && has("O_APPEND"):
		return []Op{Open, Change}
	case has("O_RDWR"):
		return []Op{Update}
	}
	return []Op{Change}
}

// openFlag returns the value of a flag, which is the same in all packages that
// have such, or nil.
func (t *Tracer) openFlag(name string) constant.Value {
	for _, p := range t.Types.Imports() {
		for _, p := range append(p.Imports(), p) {
			if flag, ok := p.Scope().Lookup(name).(*types.Const); ok && p.Scope().Lookup("O_RDWR") != nil {
				return flag.Val()
			}
		}
	}
	return nil
}
