package console

import (
	"runtime/debug"
	"strings"
	"testing"
)

// A version says its commit and date where the build knows them: from a checkout, from
// a pseudo-version of the module cache, or not at all from a release there.
func TestVersionSaysCommitAndDate(t *testing.T) {
	checkout := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-30T01:46:53Z"}, {Key: "vcs.modified", Value: "true"}}
	for name, test := range map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"checkout": {debug.BuildInfo{Main: debug.Module{Version: "v1.2.3+dirty"}, Settings: checkout},
			"freehold v1.2.3+dirty\ncommit 0123456789abcdef0123456789abcdef01234567, with changes since\ndate 2026-11-30T01:46:53Z\n"},
		"pseudo-version": {debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261130014653-0123456789ab"}},
			"freehold v0.0.0-20261130014653-0123456789ab\ncommit 0123456789ab\ndate 2026-11-30T01:46:53Z\n"},
		"release": {debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "freehold v1.2.3\ncommit unknown\ndate unknown\n"},
		"nothing": {debug.BuildInfo{}, "freehold (devel)\ncommit unknown\ndate unknown\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := versionOf(&test.info).text()
			if !strings.HasPrefix(got, test.want+"sidecar format 1\ngenerated API 1\ngo1.") {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
