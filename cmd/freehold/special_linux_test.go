package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// victim is the text of the files that a special file may lead to.
const victim = `{"x":0.5}` + "\n"

// A special makes a file that is not regular, or that has several names.
type special struct {
	make func(path, inside, outside string) error
	file bool // it holds a plain file's bytes
}

var specials = map[string]special{
	"pipe":   {make: func(path, _, _ string) error { return unix.Mkfifo(path, 0o600) }},
	"socket": {make: func(path, _, _ string) error { return unix.Mknod(path, unix.S_IFSOCK|0o600, 0) }},
	"device": {make: func(path, _, _ string) error { return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))) }},
	"directory": {make: func(path, _, _ string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(path+"/kept", nil, 0o600))
	}},
	"sparse": {make: func(path, _, _ string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
	}},
	"link inside":   {file: true, make: func(path, inside, _ string) error { return os.Symlink(inside, path) }},
	"link outside":  {file: true, make: func(path, _, outside string) error { return os.Symlink(outside, path) }},
	"dangling link": {make: func(path, _, _ string) error { return os.Symlink("nowhere", path) }},
	"hard link":     {file: true, make: func(path, _, outside string) error { return os.Link(outside, path) }},
	"mount": {file: true, make: func(path, _, outside string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), unix.Mount(outside, path, "", unix.MS_BIND, ""))
	}},
}

// An attempt is a command line at a state of which one file is special.
type attempt struct {
	args []string
	// status is the exit status that names the file. If zero, the command has
	// no need of it and works; if namesIt, it works all the same and names it.
	status int
	moves  bool // it moves the thing to the quarantine, which works for all but a mount
}

// namesIt: see attempt.
const namesIt = -1

var (
	viewingArgs     = []string{"view"}
	writingArgs     = []string{"set", "cost", "tokens=2"}
	leasingArgs     = []string{"set", "watchdog", "patience=2s"}
	acceptingArgs   = []string{"accept", "cost"}
	movingArgs      = []string{"quarantine", "cost"}
	moveWatchArgs   = []string{"quarantine", "watchdog"}
	repairingArgs   = []string{"state", "repair"}
	adoptingArgs    = []string{"adopt", "LEGACY"}
	claimingArgs    = []string{"claim", "hook", "fired"}
	addingArgs      = []string{"add", "tool", "runs", "1"}
	foldingArgs     = []string{"fold", "tool"}
	adoptingDryArgs = []string{"adopt", "LEGACY", "--dry-run"}
)

// attempts lists the commands tried on each file of Freehold.
var attempts = map[string][]attempt{
	"cost.json":                               {{viewingArgs, failure.ExitState, false}, {writingArgs, failure.ExitState, false}, {acceptingArgs, failure.ExitState, false}, {repairingArgs, 0, false}, {adoptingArgs, failure.ExitState, false}, {movingArgs, 0, true}},
	".freehold":                               {{viewingArgs, failure.ExitState, false}, {writingArgs, failure.ExitState, false}, {acceptingArgs, failure.ExitState, false}, {movingArgs, failure.ExitState, false}, {repairingArgs, failure.ExitState, false}, {adoptingArgs, failure.ExitState, false}},
	".freehold/manifest.json":                 {{viewingArgs, failure.ExitState, false}, {writingArgs, failure.ExitState, false}, {acceptingArgs, failure.ExitState, false}, {movingArgs, failure.ExitState, false}, {repairingArgs, failure.ExitState, false}, {adoptingArgs, failure.ExitState, false}},
	".freehold/state.lock":                    {{viewingArgs, 0, false}, {writingArgs, 0, false}, {repairingArgs, 0, true}},
	".freehold/cost.lock":                     {{viewingArgs, 0, false}, {writingArgs, failure.ExitState, false}, {acceptingArgs, failure.ExitState, false}, {movingArgs, failure.ExitState, false}, {adoptingArgs, failure.ExitState, false}, {repairingArgs, 0, true}},
	".freehold/watchdog.lease":                {{viewingArgs, 0, false}, {writingArgs, 0, false}, {leasingArgs, failure.ExitState, false}, {moveWatchArgs, failure.ExitState, false}, {repairingArgs, 0, true}},
	".freehold/watchdog.fence":                {{viewingArgs, 0, false}, {leasingArgs, failure.ExitState, false}, {repairingArgs, 0, true}},
	".freehold/watchdog.lease.json":           {{viewingArgs, 0, false}, {repairingArgs, 0, false}, {leasingArgs, 0, true}},
	".freehold/quarantine":                    {{viewingArgs, 0, false}, {writingArgs, 0, false}, {movingArgs, failure.ExitState, false}},
	".cost.json123000000000000":               {{viewingArgs, 0, false}, {writingArgs, 0, false}, {repairingArgs, 0, false}},
	".freehold/.manifest.json123000000000000": {{viewingArgs, 0, false}, {writingArgs, 0, false}, {repairingArgs, 0, false}},
	".freehold/.watchdog.lease.json":          {{viewingArgs, 0, false}, {leasingArgs, 0, false}},
	".freehold/claims":                        {{viewingArgs, failure.ExitState, false}, {claimingArgs, failure.ExitState, false}, {writingArgs, 0, false}, {repairingArgs, failure.ExitState, false}},
	".freehold/claims/hook":                   {{viewingArgs, failure.ExitState, false}, {claimingArgs, failure.ExitState, false}, {writingArgs, 0, false}, {repairingArgs, failure.ExitState, false}},
	".freehold/claims/hook/fired":             {{viewingArgs, failure.ExitState, false}, {claimingArgs, failure.ExitState, false}, {repairingArgs, 0, false}},
	".freehold/tool.pending":                  {{viewingArgs, failure.ExitState, false}, {addingArgs, failure.ExitState, false}, {foldingArgs, failure.ExitState, false}, {writingArgs, 0, false}, {repairingArgs, 0, true}},
	".freehold/tool.pending/x.1.json":         {{viewingArgs, namesIt, false}, {addingArgs, namesIt, false}, {foldingArgs, namesIt, false}, {repairingArgs, 0, false}},
	"LEGACY":                                  {{adoptingArgs, failure.ExitState, false}, {adoptingDryArgs, failure.ExitState, false}},
}

// directories are those that are no files.
var directories = map[string]bool{".freehold/quarantine": true, ".freehold/claims": true, ".freehold/claims/hook": true, ".freehold/tool.pending": true}

// everyKind are the files that are replaced by every kind of special file. The
// others are opened by the same function: three kinds show that they go through it.
var everyKind = map[string]bool{"cost.json": true, ".freehold/cost.lock": true, ".cost.json123000000000000": true, "LEGACY": true}

// A special file in the place of one of Freehold's is named, without waiting for
// it, and neither followed nor replaced nor cut short.
func TestSpecialFilesAreNamedAndLeftAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make devices and mounts")
	}
	for name, tries := range attempts {
		for kind, s := range specials {
			if kind == "directory" && directories[name] {
				continue // as it should be
			}
			if !everyKind[name] && kind != "pipe" && kind != "link outside" && kind != "directory" {
				continue
			}
			t.Run(name+"/"+kind, func(t *testing.T) { s.try(t, kind, name, tries) })
		}
	}
}

// A scene is a state of which one file is special.
type scene struct {
	dir, path, legacy, outside, inside string
}

func (s special) scene(t *testing.T, kind, name string) scene {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	makeStateOf(t, dir, "special.yaml")
	must(t, "set", "cost", "tokens=1", "--dir", dir)
	must(t, "set", "watchdog", "patience=1s", "--dir", dir)
	base := filepath.Dir(dir)
	at := scene{dir, filepath.Join(dir, name), filepath.Join(base, "legacy.json"), filepath.Join(base, "outside"), filepath.Join(dir, "inside")}
	if name == "LEGACY" {
		at.path = at.legacy
	}
	for _, file := range []string{at.legacy, at.outside, at.inside} {
		ago := time.Now().Add(-time.Hour)
		if err := errors.Join(os.WriteFile(file, []byte(victim), 0o600), os.Chtimes(file, ago, ago)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(at.path, filepath.Join(base, "moved")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := s.make(at.path, at.inside, at.outside); err != nil {
		t.Fatal(err)
	}
	if kind == "mount" {
		t.Cleanup(func() { unix.Unmount(at.path, unix.MNT_DETACH) })
	}
	return at
}

func (s special) try(t *testing.T, kind, name string, tries []attempt) {
	at := s.scene(t, kind, name)
	before := looks(t, at.path, at.outside, at.inside)
	for _, a := range tries {
		want, named := a.status, a.status == namesIt
		switch {
		case named:
			want = failure.ExitDone
		case a.moves && kind == "mount":
			want = failure.ExitState
		case name == "LEGACY" && s.file: // it is read, through links too, and never written
			want = failure.ExitDone
		}
		args := slices.Clone(a.args)
		if args[0] == "adopt" {
			args[1] = at.legacy
		}
		got := inTime(t, append(args, "--dir", at.dir)...)
		if got.Status != want {
			t.Errorf("%q: %+v, want status %d", args, got, want)
		}
		if (named || want != failure.ExitDone) && !strings.Contains(got.Stdout+got.Stderr, filepath.Base(at.path)) {
			t.Errorf("%q: %+v does not name %s", args, got, at.path)
		}
		path := at.path
		if a.moves && want == failure.ExitDone {
			path = quarantined(t, at.dir, filepath.Base(path))
		}
		after := looks(t, path, at.outside, at.inside)
		if name == ".cost.json123000000000000" && (kind == "hard link" || kind == "sparse") { // a killed commit may leave it, and the next removes it
			before[0], after[0] = "", ""
			before[1], after[1] = withoutNames(before[1]), withoutNames(after[1])
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("after %q, %+v (-before +after):\n%s", args, got, diff)
		}
	}
}

var namesOfFile = regexp.MustCompile(`, \d+ names,`)

// withoutNames takes out of a look how many names the file has.
func withoutNames(look string) string { return namesOfFile.ReplaceAllString(look, ",") }

// inTime is call, and fails if that hangs.
func inTime(t *testing.T, args ...string) result {
	t.Helper()
	done := make(chan result, 1)
	go func() { done <- call(t, "", args...) }()
	select {
	case got := <-done:
		return got
	case <-time.After(time.Minute):
		t.Fatalf("%q hangs", args)
		return result{}
	}
}

// looks describes files without following them.
func looks(t *testing.T, paths ...string) (all []string) {
	t.Helper()
	for _, path := range paths {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			all = append(all, err.Error())
			continue
		}
		text := ""
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			text, _ = os.Readlink(path)
		case unix.S_IFREG:
			if st.Size < 1<<20 {
				raw, err := os.ReadFile(path)
				text = fmt.Sprint(string(raw), err)
			}
		case unix.S_IFDIR:
			entries, _ := os.ReadDir(path)
			text = fmt.Sprint(entries)
		}
		all = append(all, fmt.Sprintf("inode %d, mode %o, %d names, %d bytes: %s", st.Ino, st.Mode, st.Nlink, st.Size, text))
	}
	return all
}

// quarantined returns the path of the one thing that once was name.
func quarantined(t *testing.T, dir, name string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".freehold", "quarantine", name+".*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("in the quarantine: %v (%v)", found, err)
	}
	return found[0]
}
