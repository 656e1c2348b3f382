package fileflow

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// The methods of a file that write it, and those that neither read nor write
// it; the functions that write to their first argument, and the names of those
// that make a writer of it.
var (
	writing  = []string{"Write", "WriteString", "WriteAt", "ReadFrom"}
	harmless = []string{"Close", "Stat", "Name", "Sync", "Chmod", "Chown", "Chtimes", "Fd", "Truncate", "Seek", "ReadDir", "Readdir", "Readdirnames", "SyscallConn"}
	writesTo = []string{"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "io.WriteString", "io.Copy", "io.CopyN", "io.CopyBuffer"}
	writers  = []string{"NewEncoder", "NewWriter", "NewWriterSize"}
)

// throughHandle returns the events of the calls that read or write the file
// which e opens. The first call that may read it stands for all.
func (t *Tracer) throughHandle(e Event) (events []Event) {
	file := program.Result(e.Call, 0)
	if file == nil {
		return nil
	}
	read := Event{}
	for use, alias := range t.Uses(file) {
		reads, writes, cuts := t.handleUse(use, alias)
		at := t.Place(use, e.Call.Parent())
		by, ok := use.(ssa.CallInstruction)
		if !ok || at == nil || t.Syntax(by) == nil {
			by, at = e.Call, e.Call
		}
		u := e
		u.Call, u.At, u.Handle = by, at, true
		if reads && (read.Call == nil || by.Pos() < read.Call.Pos()) {
			read = u
			read.Op = Read
		}
		if cuts || writes && e.Op == Update {
			u.Op = Replace
			events = append(events, u)
		}
	}
	if read.Call != nil {
		events = append(events, read)
	}
	return events
}

// handleUse reports whether an instruction may read the file that it uses as
// alias, writes it, or cuts it.
func (t *Tracer) handleUse(use ssa.Instruction, alias ssa.Value) (reads, writes, cuts bool) {
	call, ok := use.(ssa.CallInstruction)
	if !ok {
		_, compares := use.(*ssa.BinOp)
		return !compares, false, false
	}
	fn, args := t.Callee(call.Common())
	name := program.Name(fn)
	method, isMethod := strings.CutPrefix(name, "(*os.File).")
	if call.Common().IsInvoke() {
		method, isMethod, args = call.Common().Method.Name(), true, []ssa.Value{call.Common().Value}
	}
	if len(args) == 0 || args[0] != alias {
		return true, false, false
	}
	if isMethod {
		writes = slices.Contains(writing, method)
		return !writes && !slices.Contains(harmless, method), writes, method == "Truncate"
	}
	writes = slices.Contains(writesTo, name) || fn != nil && fn.Signature.Recv() == nil && slices.Contains(writers, fn.Name())
	return !writes, writes, false
}

// comparing lists functions that report whether a content is the right one, or
// is a valid one.
var comparing = []string{"bytes.Equal", "bytes.Compare", "reflect.DeepEqual", "slices.Equal", "maps.Equal", "encoding/json.Valid", "unicode/utf8.Valid"}

// digesting lists the packages whose functions return a digest of a content, or
// spell one: the content cannot be had from a digest.
var digesting = []string{"crypto/", "hash/", "encoding/hex", "encoding/base64"}

// onlyCompared reports whether the content that the call returns is compared
// and serves for nothing else.
func (t *Tracer) onlyCompared(call ssa.CallInstruction) bool {
	results := call.Common().Signature().Results()
	if results.Len() == 0 || !isContent(results.At(0).Type()) {
		return false // the call may have put the content into an argument
	}
	content := program.Result(call, 0)
	return content == nil || t.compared(content)
}

// compared reports whether all uses of a content, and of its digests, are
// comparisons.
func (t *Tracer) compared(content ssa.Value) bool {
	values := []ssa.Value{content} // with digests of digests
	for i := 0; i < len(values); i++ {
		for use := range t.Uses(values[i]) {
			switch use := use.(type) {
			case *ssa.BinOp:
				if use.Op != token.EQL && use.Op != token.NEQ {
					return false
				}
			case *ssa.Call:
				fn, _ := t.Callee(&use.Call)
				switch {
				case slices.Contains(comparing, program.Name(fn)), slices.Contains(values, ssa.Value(use)):
				case digests(fn):
					values = append(values, use)
				default:
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

// digests reports whether fn returns a digest.
func digests(fn *ssa.Function) bool {
	return fn != nil && fn.Pkg != nil && fn.Signature.Recv() == nil &&
		slices.ContainsFunc(digesting, func(prefix string) bool { return strings.HasPrefix(fn.Pkg.Pkg.Path()+"/", prefix) })
}

// isContent reports whether t is text or bytes.
func isContent(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Slice:
		return types.Identical(t.Elem(), types.Typ[types.Byte])
	}
	return false
}

// keeps reports whether a function has no way to hand on the content that it
// reads, except whether that was right.
func keeps(sig *types.Signature) bool {
	for result := range sig.Results().Variables() {
		if b, ok := result.Type().Underlying().(*types.Basic); !types.Identical(result.Type(), program.ErrorType) && (!ok || b.Kind() != types.Bool) {
			return false
		}
	}
	for param := range sig.Params().Variables() {
		if _, ok := param.Type().Underlying().(*types.Basic); !ok {
			return false
		}
	}
	return sig.Recv() == nil
}
