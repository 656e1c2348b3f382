package console

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar/store"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// End writes err to standard error and returns the exit status.
func (c *Console) End(err error) int {
	status, _ := failure.Status(err)
	if v, ok := errors.AsType[failure.Verdict](err); err != nil && (!ok || v.Says != "") {
		if c.JSON && (c.Given == nil || c.Given["json"] == "true") { // not by a pipe alone
			c.complainJSON(err, status)
		} else {
			c.Complain(err)
		}
	}
	return status
}

// complainJSON writes err as one line of JSON.
func (c *Console) complainJSON(err error, exit int) {
	r := struct {
		Error  string `json:"error"`
		Status string `json:"status"`
		Path   string `json:"path"`
		Owner  string `json:"owner"`
		Field  string `json:"field"`
		Remedy string `json:"remedy"`
		Exit   int    `json:"exit"`
	}{Error: err.Error(), Exit: exit}
	if e, ok := errors.AsType[*store.Error](err); ok {
		r.Status, r.Path, r.Owner, r.Field = e.Status.Error(), e.Path, e.Owner, e.Field
	}
	if status, ok := errors.AsType[store.Status](err); ok && r.Status == "" {
		r.Status = status.Error()
	}
	var words []string
	for _, remedy := range store.Remedies(err) {
		words = append(words, c.Sentence(remedy, ""))
	}
	r.Remedy = strings.Join(words, "; ")
	text, _ := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	c.pause()
	fmt.Fprintf(c.Stderr, "%s\n", display.EscapeJSON(text))
}

// Complain writes err with its remedies to standard error.
func (c *Console) Complain(err error) { c.tell("error", err) }

// Notice writes an error that stops nothing.
func (c *Console) Notice(err error) { c.tell("hint", err) }

func (c *Console) tell(prefix string, err error) {
	c.Say(prefix, err.Error())
	for _, r := range store.Remedies(err) {
		c.Say("hint", c.Sentence(r, ""))
	}
}

// Say writes a message to standard error, each of its lines with the prefix,
// so that no text from a file can pass for a message of its own.
func (c *Console) Say(prefix, text string) {
	c.pause()
	for line := range strings.Lines(text) {
		line = clipped(strings.ReplaceAll(strings.TrimSpace(line), "\t", " "))
		fmt.Fprintf(c.Stderr, "freehold: %s: %s\n", prefix, display.Escape(line))
	}
}

// WithRemedies returns the text of err with its remedies, for a place where no
// hint can follow. For dir see [Console.Sentence].
func (c *Console) WithRemedies(err error, dir string) string {
	text := err.Error()
	for _, r := range store.Remedies(err) {
		text += ": " + c.Sentence(r, dir)
	}
	return text
}

// Sentence returns a remedy in words: a step by hand, a command that can be run
// as it stands, or both. The command names the state in dir, for a reader
// elsewhere; if dir is empty, as this call did.
func (c *Console) Sentence(r store.Remedy, dir string) string {
	line := c.Line(r, dir)
	switch {
	case line == "":
		return r.Note
	case r.Note == "":
		return "run `" + line + "`"
	}
	return r.Note + ", or run `" + line + "`"
}

// Line returns the command of a remedy, or "". For dir see [Console.Sentence].
func (c *Console) Line(r store.Remedy, dir string) string {
	if r.Verb == "" {
		return failure.Line(r.Tool...)
	}
	words := append(strings.Fields(string(r.Verb)), r.Args...)
	if r.Verb == "state init" && len(r.Args) == 1 {
		words = slices.Insert(words, len(words)-1, "--instance")
	}
	end := slices.Index(append(words, "--"), "--") // a flag after that is an operand
	return failure.Line(slices.Concat(asUser(words[0]), []string{"freehold"}, words[:end], c.missing(words, dir), words[end:])...)
}

// looking are the commands that root runs on a user's state as well as the user.
var looking = []string{"doctor", "explain", "gen", "get", "observe", "view"}

// asUser returns the words before a command by which root, looking at a user's state,
// becomes that user, or nil. To write there as root would lock the user out.
func asUser(command string) []string {
	if os.Getuid() != 0 || os.Geteuid() == 0 || slices.Contains(looking, command) {
		return nil
	}
	return []string{"setpriv", fmt.Sprintf("--reuid=%d", os.Geteuid()), fmt.Sprintf("--regid=%d", os.Getegid()), "--clear-groups"}
}

// stateless are the commands with a remedy, or named in one, that take neither --dir nor
// --instance, and declaring those that take
// --owners. A test compares them with the commands.
var (
	stateless = []string{"breaking", "completion", "demo", "field add", "gen", "help", "init", "man", "owner add", "version"}
	declaring = []string{"adopt", "breaking", "doctor", "field add", "owner add", "schema", "state init", "state repair", "state upgrade"}
)

// takes reports whether the command of words takes a flag about the state.
func takes(words []string, flag string) bool {
	line := strings.Join(words, " ") + " "
	among := func(commands []string) bool {
		return slices.ContainsFunc(commands, func(name string) bool { return strings.HasPrefix(line, name+" ") })
	}
	if flag == "owners" {
		return among(declaring)
	}
	return !among(stateless)
}

// missing returns the flags that this call was given, or that name dir, and that
// the command of words takes too.
func (c *Console) missing(words []string, dir string) (flags []string) {
	if c.Given == nil || slices.Contains(words, "--help") {
		return nil
	}
	for _, name := range []string{"dir", "instance", "owners"} {
		if !takes(words, name) || slices.Contains(words, "--"+name) {
			continue
		}
		value := c.Given[name]
		switch {
		case dir == "":
		case name == "dir":
			value = dir
		case name == "instance":
			value = "" // dir is that of the instance
		case value != "":
			value, _ = filepath.Abs(value)
		}
		if value != "" {
			flags = append(flags, "--"+name, value)
		}
	}
	return flags
}

// clipped returns a line of a message, without its middle if an argument or a
// value makes it too long to be read.
func clipped(line string) string {
	const most = 4000 // bytes
	if len(line) <= most {
		return line
	}
	head, tail := line[:most/2], line[len(line)-most/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf(" … (%d bytes) … ", len(line)-most) + strings.ToValidUTF8(tail, "")
}
