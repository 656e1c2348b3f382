// Command skilluse is the agent's hook before or after each tool use: it counts
// what the tool does with a skill.
//
//	skilluse [-dir STATE] < hook.json
//
// The tool Skill uses a skill. Read views one if the file is its SKILL.md, and
// Edit, MultiEdit and Write patch the one whose file it is. What other tools do
// has nothing to do with skills. It handles both events, so that it can be set
// up for either; set up for both it would count twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/usage/tool"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json"
)

func main() {
	debug.SetTraceback("crash") // a panic must not exit with 2, which agents take for "block"
	h := hook.Hook{Program: "skilluse", Events: []string{"PreToolUse", "PostToolUse"}, Do: count}
	os.Exit(h.Run(context.Background(), os.Args[1:], os.Stdin, os.Stderr))
}

func count(ctx context.Context, dir string, in hook.Input) error {
	skill, act, err := touched(in)
	if skill == "" {
		return err
	}
	_, err = tool.Bump(ctx, dir, skill, act, time.Now(), &sidecar.Options{Program: "skilluse", Notice: notice})
	return err
}

// notice says what stops nothing and somebody should know.
func notice(err error) { fmt.Fprintf(os.Stderr, "skilluse: %v\n", err) }

// touched returns which skill the tool touches and how, or "" if none.
func touched(in hook.Input) (skill string, act tool.Act, err error) {
	switch in.ToolName {
	case "Skill", "Read", "Edit", "MultiEdit", "Write":
	default:
		return "", 0, nil
	}
	var args struct {
		Skill string `json:"skill"`
		File  string `json:"file_path"`
	}
	if err := json.Unmarshal(in.ToolInput, &args, hook.AsAgentsWrite); err != nil {
		where := "" // the library words its own sentences at random
		if e, ok := errors.AsType[*json.SemanticError](err); ok {
			where = string(e.JSONPointer)
		}
		return "", 0, fmt.Errorf("standard input: the tool_input of %s has another form than this program knows, at %q: look at what the agent sends", in.ToolName, where)
	}
	if in.ToolName == "Skill" {
		return args.Skill, tool.Use, nil
	}
	skill, file := skillOf(args.File)
	if in.ToolName != "Read" {
		return skill, tool.Patch, nil
	}
	if file != "SKILL.md" {
		return "", 0, nil
	}
	return skill, tool.View, nil
}

// skillOf returns the skill that a file belongs to, which is the folder below
// the nearest one named "skills", and the file's name in there; or "" if it
// belongs to none.
func skillOf(file string) (skill, name string) {
	folders := strings.Split(path.Clean(filepath.ToSlash(file)), "/")
	for i := len(folders) - 3; i >= 0; i-- {
		if folders[i] == "skills" {
			return folders[i+1], path.Join(folders[i+2:]...)
		}
	}
	return "", ""
}
