package fileio

import (
	"path"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// Commands returns the files that a command of os/exec writes, moves or
// removes, as far as the arguments of the call that makes it, and the script of
// its shell, tell.
func (t *Tracer) Commands(call ssa.CallInstruction, env Env) (written []Path) {
	fn, args := t.Callee(call.Common())
	switch program.Name(fn) {
	case "os/exec.Command":
	case "os/exec.CommandContext":
		args = args[1:]
	default:
		return nil
	}
	words := []string{t.Path(args[0], env).Text}
	rest, _ := t.List(args[1])
	for _, p := range t.paths(rest, env) {
		words = append(words, p.Text)
	}
	for _, word := range changed(words) {
		written = append(written, Path{Text: path.Clean(word)})
	}
	return written
}

// The commands that change the files which they name: all of them, or the last; the
// shells; and the commands that run the one which follows.
var (
	changeAll  = []string{"rm", "unlink", "shred", "truncate", "touch", "tee", "mv", "sponge"}
	changeLast = []string{"cp", "ln", "install", "rsync"}
	shells     = []string{"sh", "bash", "dash", "ash", "ksh", "zsh"}
	runners    = []string{"sudo", "doas", "env", "nice", "nohup", "busybox", "command", "exec"}
)

// changed returns the words of a command that name files which it changes.
func changed(words []string) []string {
	for len(words) > 1 && slices.Contains(runners, path.Base(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	name, args := path.Base(words[0]), words[1:]
	isFlag := func(word string) bool { return strings.HasPrefix(word, "-") }
	operands := slices.DeleteFunc(slices.Clone(args), isFlag)
	switch {
	case slices.Contains(changeAll, name):
		return operands
	case slices.Contains(changeLast, name) && len(operands) > 1:
		return operands[len(operands)-1:]
	case name == "sed" && slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-i") || strings.HasPrefix(arg, "--in-place") }):
		return operands
	case name == "dd":
		var files []string
		for _, arg := range args {
			if file, ok := strings.CutPrefix(arg, "of="); ok {
				files = append(files, file)
			}
		}
		return files
	case slices.Contains(shells, name):
		c := slices.IndexFunc(args, func(arg string) bool {
			return isFlag(arg) && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
		})
		if c >= 0 && c+1 < len(args) {
			return inScript(args[c+1])
		}
	}
	return nil
}

// inScript returns the words in a shell's script that name files which it changes:
// those of its commands, and where output goes. It knows words, quotes and where a
// command ends, and no more of the language: a script that says so in another way
// says nothing here.
func inScript(script string) (files []string) {
	var command []string
	into := false // the next word is where output goes
	for _, l := range lexemes(script) {
		switch {
		case l.operator && strings.Contains(l.text, ">"):
			into = !strings.HasSuffix(l.text, "&")
		case l.operator:
			files = append(files, changed(command)...)
			command, into = nil, false
		case into:
			files = append(files, l.text)
			into = false
		case len(command) == 0 && slices.Contains(keywords, l.text):
		default:
			command = append(command, l.text)
		}
	}
	return append(files, changed(command)...)
}

// keywords of the shell after which a command may begin.
var keywords = []string{"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time"}

// A lexeme is a word of a script, without its quotes, or an operator.
type lexeme struct {
	text     string
	operator bool
}

// lexemes takes a script apart, up to a text that is input of a command.
func lexemes(script string) (all []lexeme) {
	script, _, _ = strings.Cut(script, "<<")
	const operators = "<>|&;()\n"
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			all = append(all, lexeme{text: word.String()})
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case c == '\'' || c == '"':
			length := strings.IndexByte(script[i+1:], c)
			if length < 0 {
				length = len(script) - i - 1
			}
			word.WriteString(script[i+1 : i+1+length])
			begun = true
			i += length + 1
		case c == '\\' && i+1 < len(script):
			i++
			word.WriteByte(script[i])
			begun = true
		case c == ' ' || c == '\t':
			end()
		case strings.IndexByte(operators, c) >= 0:
			end()
			length := len(script[i:]) - len(strings.TrimLeft(script[i:], string(c)+"&|"))
			if c == '\n' || c == '(' || c == ')' {
				length = 1
			}
			all = append(all, lexeme{text: script[i : i+length], operator: true})
			i += length - 1
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	return all
}
