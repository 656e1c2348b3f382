package inject_test

import (
	"testing"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
)

func TestUnsyncedFindsWhatPowerLossCouldTakeAway(t *testing.T) {
	call := func(name string, paths ...string) inject.Call { return inject.Call{Name: name, Paths: paths} }
	draft, file := call("fsync", "/s/.a1"), call("renameat", "/s/.a1", "/s/a")
	for name, tc := range map[string]struct {
		calls []inject.Call
		want  int
	}{
		"all is synced":              {[]inject.Call{draft, file, call("fsync", "/s")}, 0},
		"the file is not":            {[]inject.Call{file, call("fsync", "/s")}, 1},
		"the file is, too late":      {[]inject.Call{file, draft, call("fsync", "/s")}, 1},
		"the directory is not":       {[]inject.Call{draft, file}, 1},
		"the directory is, too soon": {[]inject.Call{draft, call("fsync", "/s"), file}, 1},
		"another directory is":       {[]inject.Call{draft, file, call("fsync", "/s/b")}, 1},
		"nothing is":                 {[]inject.Call{file}, 2},
		"a file without a name":      {[]inject.Call{call("linkat", "/s/#7 (deleted)", "/s/a"), call("fsync", "/s")}, 1},
		"a move to another place":    {[]inject.Call{call("renameat2", "/s/a", "/q/a"), call("fsync", "/q")}, 1},
		"a directory":                {[]inject.Call{call("mkdirat", "/s/b")}, 1},
		"what is in the making":      {[]inject.Call{call("mkdirat", "/s/.b"), call("linkat", "/s/a", "/s/.a2")}, 0},
	} {
		if got := inject.Unsynced(tc.calls); len(got) != tc.want {
			t.Errorf("%s: %d findings, want %d: %v", name, len(got), tc.want, got)
		}
	}
}
