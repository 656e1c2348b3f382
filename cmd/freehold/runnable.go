package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// Errors and hints name commands in backquotes, such as `freehold accept
// OWNER`. The packages that say so do not know how this call was told where to
// work, so what it was told is put into each such command here, where all
// messages come by.

// recommends begins a command in a text.
const recommends = "`freehold "

// tellsWhere are the flags that say which state, or declaration, a call is about.
var tellsWhere = []string{"dir", "instance", "owners"}

// runnable returns text with the flags in the commands that it names which this
// call had to be given, so that each can be run as it stands.
func (c *cli) runnable(text string) string { return c.runnableIn(text, "") }

// runnableIn is runnable for a text about an instance, if that is not the one that
// the call was told of.
func (c *cli) runnableIn(text, instance string) string {
	return c.commandsIn(text, func(flag string) (string, bool) {
		value, ok := flagOf(c.called, flag)
		if flag == "instance" && !ok {
			return instance, instance != ""
		}
		return value, ok
	})
}

// standalone is runnable for a text that is read elsewhere, by another program
// perhaps, as what --json prints is: its commands name the state's directory in
// full, however this call found it. From another place they would be about
// another state.
func (c *cli) standalone(text, dir string) string {
	return c.commandsIn(text, func(flag string) (string, bool) {
		switch flag {
		case "dir":
			return dir, true
		case "instance":
			return "", false // the directory is that of the instance
		}
		value, ok := flagOf(c.called, flag)
		if file, err := filepath.Abs(value); err == nil && ok {
			value = file
		}
		return value, ok
	})
}

// commandsIn returns text with the flags in its commands that say where; lacks
// returns the value of one, if it is to stand there.
func (c *cli) commandsIn(text string, lacks func(flag string) (string, bool)) string {
	if c.called == nil {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, recommends)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(recommends)
		words, after, ok := commandWords(rest)
		if ok {
			b.WriteString(strings.Join(c.placed(words, lacks), " "))
		}
		text = after
	}
}

// placed returns the words of a command of this program with the flags that it
// lacks, before what a "--" keeps from being a flag.
func (c *cli) placed(words []string, lacks func(flag string) (string, bool)) []string {
	target, _, err := c.called.Root().Find(words)
	if err != nil || slices.Contains(words, "--help") {
		return words
	}
	if len(words) == 1 && words[0] == "gen" {
		return append(words, c.sources()...)
	}
	end := len(words)
	if i := slices.Index(words, "--"); i >= 0 {
		end = i
	}
	var missing []string
	for _, name := range tellsWhere {
		if name == "instance" && given(words[:end], "dir") {
			continue // which then is that of the instance
		}
		value, ok := lacks(name)
		if ok && target.Flags().Lookup(name) != nil && !given(words[:end], name) {
			missing = append(missing, failure.Line("--"+name, value))
		}
	}
	return slices.Concat(words[:end], missing, words[end:])
}

// sources returns the owners.yaml files that this call was given, as a shell
// takes them.
func (c *cli) sources() (files []string) {
	if file, ok := flagOf(c.called, "owners"); ok {
		return []string{failure.Line(file)}
	}
	if c.called.Name() == "gen" {
		for _, file := range c.called.Flags().Args() {
			files = append(files, failure.Line(file))
		}
	}
	return files
}

// flagOf returns the value of the flag that the caller of cmd gave.
func flagOf(cmd *cobra.Command, name string) (value string, ok bool) {
	f := cmd.Flags().Lookup(name)
	if f == nil || !f.Changed {
		return "", false
	}
	return f.Value.String(), true
}

// given reports whether the flag is among words.
func given(words []string, flag string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return word == "--"+flag || strings.HasPrefix(word, "--"+flag+"=")
	})
}

// commandWords splits a command at its blanks, as they are written, up to the
// backquote that ends it, and returns what is behind that too. Within quotes
// neither counts. If nothing ends it, text is no command, and after is text.
func commandWords(text string) (words []string, after string, ok bool) {
	quote, start := byte(0), 0
	for i := 0; i < len(text); i++ {
		switch at := text[i]; {
		case quote != 0 && at == quote:
			quote = 0
		case quote != 0:
		case at == '\'' || at == '"':
			quote = at
		case at == '\\':
			i++
		case at == ' ' || at == '`':
			if i > start {
				words = append(words, text[start:i])
			}
			if start = i + 1; at == '`' {
				return words, text[i:], true
			}
		}
	}
	return nil, text, false
}
