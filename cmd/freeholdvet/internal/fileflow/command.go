package fileflow

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/freeholdvet/internal/program"
	"golang.org/x/tools/go/ssa"
)

// command returns the files that a command of os/exec writes, moves or removes,
// as far as the arguments of the call that makes the command, and the script of
// a shell, tell; nil if call makes none.
func (t *Tracer) command(call ssa.CallInstruction) func(Env) []Path {
	fn, args := t.Callee(call.Common())
	switch program.Name(fn) {
	case "os/exec.Command":
	case "os/exec.CommandContext":
		args = args[1:]
	default:
		return nil
	}
	return func(env Env) (written []Path) {
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

// A script is taken as words, with quotes, and operators.
var (
	lexeme = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|\\(?s:.)|[^\s'"\\<>|&;()])+|[<>|&;()]+|\n`)
	quoted = regexp.MustCompile(`'([^']*)'|"([^"]*)"|\\(?s:(.))`)
)

// inScript returns the words in a shell's script that name files which it
// changes: those of its commands, and files that output goes to. It knows
// words, quotes and where a command ends, and no more of the language, and
// stops where the input of a command is in the script.
func inScript(script string) (files []string) {
	script, _, _ = strings.Cut(script, "<<")
	var command []string
	output := false // whether the next word is a file that output goes to
	for _, text := range append(lexeme.FindAllString(script, -1), "\n") {
		switch word := quoted.ReplaceAllString(text, "$1$2$3"); {
		case strings.Contains("<>|&;()\n", text[:1]):
			output = strings.Contains(text, ">") && !strings.HasSuffix(text, "&")
			if !strings.Contains(text, ">") {
				files = append(files, changed(command)...)
				command = nil
			}
		case output:
			files = append(files, word)
			output = false
		case len(command) == 0 && slices.Contains(keywords, word):
		default:
			command = append(command, word)
		}
	}
	return files
}

// keywords of the shell after which a command may begin.
var keywords = []string{"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time"}
