// Command pretool is the agent's PreToolUse hook, which puts facts and rules into
// the session, each once, and again after -reinject-turns. Copies of it run at
// once, one for each tool; only one of them prints an item.
//
//	pretool [-dir STATE] [-items FILE] [-turn N] [-reinject-turns N] < hook.json
//
// The items are lines {"id": …, "text": …} of FILE, which is beside the state
// directory unless -items names another.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/owners/hook"
	session "github.com/freehold-dev/freehold/owners/session/hook"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	var items string
	var call session.Call
	hook.Hook{
		Program: "pretool",
		Events:  []string{"PreToolUse"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&items, "items", "", "the items; if empty, context-items.jsonl beside the state directory")
			f.Uint64Var(&call.Turn, "turn", 0, "the number of the session's turn, if the caller knows it")
			f.Uint64Var(&call.ReinjectTurns, "reinject-turns", 0, "put an item in again after so many turns; 0 for never")
		},
		Do: func(ctx context.Context, dir string, in hook.Input) error {
			if items == "" {
				items = filepath.Join(filepath.Dir(filepath.Clean(dir)), "context-items.jsonl")
			}
			call.Session = in.SessionID
			call.Look = func(context.Context) ([]session.Item, error) { return look(items) }
			injection, err := session.Inject(ctx, dir, call, &sidecar.Options{Create: true, Program: "pretool"})
			if err != nil {
				return err
			}
			return say(injection.Items)
		},
	}.Main()
}

// look reads the items.
func look(file string) ([]session.Item, error) {
	text, err := command.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var items []session.Item
	for n, line := range bytes.Split(text, []byte{'\n'}) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var item session.Item
		err := json.Unmarshal(line, &item)
		if err == nil && (item.ID == "" || item.Text == "") {
			err = errors.New(`it lacks "id" or "text"`)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: not an item: %w: correct the line", file, n+1, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// say prints the items for the session, if any, in the agent's form.
func say(items []session.Item) error {
	if len(items) == 0 {
		return nil
	}
	var texts []string
	for _, item := range items {
		texts = append(texts, item.Text)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PreToolUse", "additionalContext": strings.Join(texts, "\n"),
	}})
}
