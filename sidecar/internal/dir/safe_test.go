package dir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// wantUnsafe wants an error that wraps [status.Unsafe] and says, with its
// remedy, all texts.
func wantUnsafe(t *testing.T, err error, texts ...string) {
	t.Helper()
	said := fmt.Sprint(err, " ", status.RemedyOf(err))
	if !errors.Is(err, status.Unsafe) || slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(said, text) }) {
		t.Errorf("got %s, want an unsafe directory and %q", said, texts)
	}
}

func open(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// A layout is a state directory and the directories above it.
type layout struct {
	make  func(base string) (state string, err error)
	names string // the directory that is refused, below base; "" if the state is safe
	root  bool   // it takes root to make it
}

func mkdir(path string, mode os.FileMode) error {
	return errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, mode))
}

var layouts = map[string]layout{
	"all private":  {make: func(b string) (string, error) { return b + "/a/state", mkdir(b+"/a", 0o700) }},
	"all may read": {make: func(b string) (string, error) { return b + "/a/state", mkdir(b+"/a", 0o755) }},
	"all may write and it is sticky": {make: func(b string) (string, error) {
		return b + "/tmp/a/state", errors.Join(mkdir(b+"/tmp/a", 0o700), os.Chmod(b+"/tmp", 0o777|os.ModeSticky))
	}},
	"all may write": {names: "a", make: func(b string) (string, error) {
		return b + "/a/b/state", errors.Join(mkdir(b+"/a/b", 0o700), os.Chmod(b+"/a", 0o777))
	}},
	"a group may write": {names: "a", root: true, make: func(b string) (string, error) {
		return b + "/a/state", errors.Join(mkdir(b+"/a", 0o770), os.Chown(b+"/a", 0, 65534))
	}},
	"the owner's private group may write":          {root: true, make: func(b string) (string, error) { return b + "/a/state", mkdir(b+"/a", 0o775) }},
	"the owner's private group may write, and all": {names: "a", root: true, make: func(b string) (string, error) { return b + "/a/state", mkdir(b+"/a", 0o777) }},
	"through a link": {make: func(b string) (string, error) {
		return b + "/link/state", errors.Join(mkdir(b+"/a", 0o700), os.Symlink("a", b+"/link"))
	}},
	"through an absolute link": {make: func(b string) (string, error) {
		return b + "/link/state", errors.Join(mkdir(b+"/a", 0o700), os.Symlink(b+"/a", b+"/link"))
	}},
	"through a link and back up": {make: func(b string) (string, error) {
		return b + "/a/link/state", errors.Join(mkdir(b+"/a", 0o700), mkdir(b+"/c/d", 0o700), os.Symlink("../c/./d//", b+"/a/link"))
	}},
	"a link leads through a directory that all may write": {names: "open", make: func(b string) (string, error) {
		return b + "/link/state", errors.Join(mkdir(b+"/open/a", 0o700), os.Chmod(b+"/open", 0o777), os.Symlink("open/a", b+"/link"))
	}},
	"a link lies in a directory that all may write": {names: "open", make: func(b string) (string, error) {
		return b + "/open/link/state", errors.Join(mkdir(b+"/a", 0o700), mkdir(b+"/open", 0o777), os.Symlink("../a", b+"/open/link"))
	}},
	"another user's link in a sticky directory": {root: true, names: "tmp/link", make: func(b string) (string, error) {
		return b + "/tmp/link/state", errors.Join(mkdir(b+"/a", 0o700), mkdir(b+"/tmp", 0o777|os.ModeSticky),
			os.Symlink("../a", b+"/tmp/link"), os.Lchown(b+"/tmp/link", 65534, 65534))
	}},
	"below another user's directory": {root: true, names: "a", make: func(b string) (string, error) {
		return b + "/a/b/state", errors.Join(mkdir(b+"/a/b", 0o700), os.Chown(b+"/a", 65534, 65534))
	}},
	"below another user's sticky directory": {root: true, names: "a", make: func(b string) (string, error) {
		return b + "/a/b/state", errors.Join(mkdir(b+"/a/b", 0o700), os.Chmod(b+"/a", 0o777|os.ModeSticky), os.Chown(b+"/a", 65534, 65534))
	}},
}

// A user that can rename a directory above the state directory can put another
// state in its place.
func TestNobodyElseCanReplaceAStateDirectory(t *testing.T) {
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			if l.root && os.Geteuid() != 0 {
				t.Skip("needs root to give files away")
			}
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			state, err := l.make(base)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(state, 0o700); err != nil {
				t.Fatal(err)
			}
			d, err := OpenSafe(state)
			if l.names != "" {
				wantUnsafe(t, err, base+"/"+l.names+", on the way to it", "keep")
			} else if err != nil {
				t.Fatal(err)
			} else {
				d.Close()
			}
		})
	}
}

func TestLinksInACircleEnd(t *testing.T) {
	base := t.TempDir()
	if err := errors.Join(os.Symlink("b", base+"/a"), os.Symlink("a", base+"/b")); err != nil {
		t.Fatal(err)
	}
	if err := ancestors(base + "/a/state"); !errors.Is(err, unix.ELOOP) {
		t.Errorf("got %v, want ELOOP", err)
	}
}

func TestPrivateGroupHasNobodyElse(t *testing.T) {
	const ann = "ann:x:1000:1000:Ann:/home/ann:/bin/sh\n"
	for name, c := range map[string]struct {
		passwd, group string
		want          bool
	}{
		"its user's alone":           {ann, "ann:x:1000:\n", true},
		"its user is listed":         {ann, "ann:x:1000:ann\n", true},
		"no final newline":           {ann, "ann:x:1000:", true},
		"another member":             {ann, "ann:x:1000:ann,bob\n", false},
		"another user's own too":     {ann + "bob:x:1001:1000::/:/bin/sh\n", "ann:x:1000:\n", false},
		"another name":               {ann, "users:x:1000:\n", false},
		"two groups of one number":   {ann, "ann:x:1000:\nfriends:x:1000:bob\n", false},
		"not the user's own":         {"ann:x:1000:100::/:/bin/sh\n", "ann:x:1000:\n", false},
		"a user that no file knows":  {"", "ann:x:1000:\n", false},
		"a group that no file knows": {ann, "", false},
		"half a line":                {ann, "ann:x:1000", false},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(dir+"/passwd", []byte(c.passwd), 0o600), os.WriteFile(dir+"/group", []byte(c.group), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := privateGroup(dir, 1000, 1000); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if privateGroup(t.TempDir(), 1000, 1000) {
		t.Error("without any file there is one")
	}
}
