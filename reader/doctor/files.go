package doctor

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// files adds findings of files and directories that are wrong as such.
func (c *check) files() {
	found, err := c.dir.Scan(c.manifest)
	if err != nil {
		c.fault(c.unusable(), c.path, fmt.Errorf("not all of it could be looked at: %w", err))
	}
	var readable, fixed, strange []string
	for _, f := range found {
		if f.Written.After(c.newest) && f.Role != "lock" {
			c.newest = f.Written
		}
		switch f.Role {
		case "quarantined":
			continue
		case "":
			if c.stranger(f) {
				strange = append(strange, f.Name)
			}
			continue
		case "patch":
			c.patches[f.Name] = f.Written
		case "staged":
			c.staged(f, "is being written, or a process holds the lock that its writer held")
		}
		c.modes(f)
		switch {
		case f.Type == "symbolic link":
		case f.Mode&0o077 != 0:
			readable = append(readable, f.Name)
		case f.Mode&0o200 == 0:
			fixed = append(fixed, f.Name)
		}
	}
	c.listed("readable", "other users may read", readable)
	c.listed("read-only", "the state's user may not write", fixed)
	c.listed("strangers", "not Freehold's", strange)
	c.quarantine(found)
}

// listed notes a list of names, of which it shows the first.
func (c *check) listed(about, says string, names []string) {
	const most = 8
	if len(names) == 0 {
		return
	}
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	c.note(about, "%s: %s", says, text)
}

// stranger reports whether a file that is not Freehold's is no fault. Else it
// adds a finding.
func (c *check) stranger(f store.Entry) bool {
	twin := func(says string) bool {
		c.find("twin", f.Name, says+", and no process reads it: letters of another case make another name", store.MoveAway(c.at(f.Name), "look at it first"))
		return false
	}
	if filepath.Dir(f.Name) != "." {
		if f.Name != filepath.Join(".freehold", "instances.json") {
			c.find("unknown", f.Name, fmt.Sprintf("the %s is not Freehold's, and .freehold is for nothing else", f.Type), store.MoveAway(c.at(f.Name), ""))
		}
		return false
	}
	for _, owner := range c.manifest.Declaration.OwnerNames() {
		if strings.EqualFold(f.Name, store.FilesOf(owner).Sidecar) {
			return twin(fmt.Sprintf("it is not the sidecar %s of owner %s", store.FilesOf(owner).Sidecar, owner))
		}
	}
	if strings.EqualFold(f.Name, ".freehold") {
		return twin("it is not the state's .freehold")
	}
	if owner, ok := c.sidecarOf(f); ok {
		c.find("sidecar-undeclared", f.Name, fmt.Sprintf("it is a sidecar of owner %.80q, and no process reads it under this name", owner), store.MoveAway(c.at(f.Name), "or declare its owner and give it back its name"))
		return false
	}
	return true
}

// sidecarOf returns the owner of a sidecar under a name that is no declared
// owner's.
func (c *check) sidecarOf(f store.Entry) (owner string, ok bool) {
	if f.Type != "file" || f.Size == 0 || f.Size > store.MaxSidecar {
		return "", false
	}
	return c.dir.OwnerIn(f.Name)
}

// modes adds findings of a file that has another type than its role wants, or that
// another user owns or may write.
func (c *check) modes(f store.Entry) {
	find := func(code, says string, r store.Remedy) { c.find(code, f.Name, says, r).Owner = f.Owner }
	tool := func(args ...string) store.Remedy { return store.Remedy{Tool: append(args, c.at(f.Name))} }
	want := "file"
	if slices.Contains([]store.Role{"state", "meta", "pending", "claims", "quarantine", "upgrade"}, f.Role) {
		want = "directory"
	}
	// The reader of one of these has a finding of its own.
	opened := slices.Contains([]store.Role{"sidecar", "lock", "claim", "patch", "staged"}, f.Role)
	irregular := store.AccessRemedy(&fs.PathError{Path: c.at(f.Name), Err: store.ErrIrregular}, store.MoveAway(c.at(f.Name), ""))
	switch {
	case f.Mounted && (f.Role == "quarantine" || f.Role == "upgrade"): // a mount over another one has a finding of its own
		find("irregular", "something is mounted there", irregular)
		return
	case f.Type != want && !opened:
		find("irregular", fmt.Sprintf("it is a %s and should be a %s", f.Type, want), irregular)
		return
	case want == "file" && f.Links > 1 && !opened:
		find("irregular", fmt.Sprintf("it has %d names (hard links), and could be any file", f.Links), irregular)
	case f.Type == "symbolic link":
		return
	}
	if f.UID != store.User() {
		find("other-user", fmt.Sprintf("it belongs to user %d and this process runs as user %d", f.UID, store.User()), store.GiveBack(c.at(f.Name)))
	}
	if f.Group >= 0 && f.Role == "sidecar" {
		_, gid, _ := strings.Cut(store.Ours(c.at(f.Name)), ":")
		find("other-user", fmt.Sprintf("it has the group %d, which this user is not in, so that no commit could keep the group", f.Group), tool("chgrp", gid))
	}
	if f.Mode&0o022 != 0 {
		find("others-write", fmt.Sprintf("mode %04o lets others write in it", f.Mode.Perm()), tool("chmod", "go-w"))
	}
	if len(f.Attributes) > 0 {
		remedy := tool("setfattr", "-x", f.Attributes[0])
		if slices.ContainsFunc(f.Attributes, func(name string) bool { return strings.HasPrefix(name, "system.posix_acl") }) {
			remedy = tool("setfacl", "-b").Or("give access by mode and group instead")
		}
		find("attributes", fmt.Sprintf("the next commit replaces the file and loses its %s; mode and group stay", strings.Join(f.Attributes, ", ")), remedy)
	}
}

// quarantine notes the files in the quarantine, and adds findings of rejected
// patches.
func (c *check) quarantine(found []store.Entry) {
	var files, bytes int64
	var newest time.Time
	for _, f := range found {
		if f.Role != "quarantined" {
			continue
		}
		files, bytes = files+1, bytes+f.Size
		if f.Written.After(newest) {
			newest = f.Written
		}
		patch, ok := strings.CutSuffix(f.Name, ".why")
		if !ok {
			continue
		}
		reason, err := c.dir.Kept(filepath.Base(patch))
		if err != nil {
			reason = err.Error()
		}
		c.find("patch-kept", patch, "a pending patch could not be folded: "+reason, store.Remedy{Tool: []string{"rm", "--", c.at(patch), c.at(f.Name)}, Note: "first write the values that should count"})
	}
	if files > 0 {
		c.note("quarantine", "files that were moved out of the way: %d, with %d bytes, the newest of %s: %s", files, bytes, newest.UTC().Format(time.RFC3339), filepath.Join(c.path, ".freehold", "quarantine"))
	}
}
