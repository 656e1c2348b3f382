// Command skilluse is the agent's hook before or after each tool use, which
// counts acts of tools on skills.
//
//	skilluse [-dir STATE] < hook.json
//
// The tool Skill uses a skill. Read views one if the file is its SKILL.md, and
// Edit, MultiEdit and Write patch the skill of the file. Other tools do not
// count. Set it up for one of the two events; for both, each act would count twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/owners/hook"
	"github.com/freehold-dev/freehold/owners/usage/tool"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/go-json-experiment/json"
)

func main() {
	hook.Hook{Program: "skilluse", Events: []string{"PreToolUse", "PostToolUse"}, Do: count}.Main()
}

func count(ctx context.Context, dir string, in hook.Input) error {
	skill, act, err := touched(in)
	if skill == "" {
		return err
	}
	_, err = tool.Bump(ctx, dir, skill, act, time.Now(), 1, &sidecar.Options{Program: "skilluse", Notice: notice})
	return err
}

func notice(err error) { fmt.Fprintf(os.Stderr, "skilluse: %v\n", err) }

// touched returns the skill that the tool touches, or "", and the act.
func touched(in hook.Input) (skill string, act tool.Act, err error) {
	switch in.ToolName {
	case "Skill", "Read", "Edit", "MultiEdit", "Write":
	default:
		return "", "", nil
	}
	var args struct {
		Skill string `json:"skill"`
		File  string `json:"file_path"`
	}
	if err := json.Unmarshal(in.ToolInput, &args, hook.AsAgentsWrite); err != nil {
		where := "" // the library chooses the words of its errors at random
		if e, ok := errors.AsType[*json.SemanticError](err); ok {
			where = string(e.JSONPointer)
		}
		return "", "", fmt.Errorf("standard input: the tool_input of %s has an unknown form at %q: look at the agent's settings", in.ToolName, where)
	}
	if in.ToolName == "Skill" {
		return args.Skill, tool.Use, nil
	}
	skill, file := skillOf(args.File)
	if in.ToolName != "Read" {
		return skill, tool.Patch, nil
	}
	if file != "SKILL.md" {
		return "", "", nil
	}
	return skill, tool.View, nil
}

// skillOf returns the skill that a file belongs to, which is the folder below
// the nearest one named "skills", and the file's name in there; or "" if the
// file belongs to none.
func skillOf(file string) (skill, name string) {
	folders := strings.Split(path.Clean(filepath.ToSlash(file)), "/")
	for i := len(folders) - 3; i >= 0; i-- {
		if folders[i] == "skills" {
			return folders[i+1], path.Join(folders[i+2:]...)
		}
	}
	return "", ""
}
