// Command pretool is the agent's PreToolUse hook: it puts facts and rules into
// the session, each once, and again after some turns if it is told to. Copies
// of it run at once, one for each tool; one of them prints an item.
//
//	pretool [-dir STATE] [-items FILE] [-turn N] [-reinject-turns N] < hook.json
//
// The items are lines {"id": …, "text": …} of FILE, which lies beside the state
// directory unless -items names it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/freehold-dev/freehold/owners/hook"
	session "github.com/freehold-dev/freehold/owners/session/hook"
	"github.com/freehold-dev/freehold/sidecar"
)

func main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	var items string
	var call session.Call
	h := hook.Hook{
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
	}
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}

// mostItems bounds the file of items, in bytes.
const mostItems = 4 << 20

// look reads the items.
func look(file string) ([]session.Item, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostItems+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostItems {
		return nil, fmt.Errorf("%s: more than %d bytes: keep fewer items in it", file, mostItems)
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
			return nil, fmt.Errorf("%s:%d: no item: %w: mend the line", file, n+1, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// say prints what the agent is to put into the session, in the form that it
// reads; nothing if that is nothing.
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
