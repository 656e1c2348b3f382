package console

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
	"golang.org/x/mod/module"
)

// The texts of the command version.
const (
	VersionShort = "print the release and the formats it reads and writes"
	VersionLong  = `Print the release of Freehold, its commit and date, the format number of the files in
a state directory, the number of the interface between generated code and library,
and the Go release and platform of this build. Releases with equal numbers work
together.`
)

type versionReport struct {
	Version string `json:"version"`
	// Commit and Date are those of the source, and empty if the build does not know
	// them. Modified says that the source had changes that are in no commit.
	Commit       string `json:"commit"`
	Date         string `json:"date"`
	Modified     bool   `json:"modified"`
	Format       int    `json:"format"`
	GeneratedAPI int    `json:"generated_api"`
	Go           string `json:"go"`
	Platform     string `json:"platform"`
}

// release, commit and date are set by the build of a release (.github/goreleaser.yaml),
// since a source archive has no git to ask.
var release, commit, date string

// versionOf returns the version in the build information of this program.
func versionOf(info *debug.BuildInfo) versionReport {
	v := versionReport{Version: cmp.Or(info.Main.Version, "(devel)"), Format: store.Format, GeneratedAPI: sidecar.GeneratedAPI1,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	// A program built from the module cache knows its pseudo-version alone.
	if module.IsPseudoVersion(v.Version) {
		v.Commit, _ = module.PseudoVersionRev(v.Version)
		if at, err := module.PseudoVersionTime(v.Version); err == nil {
			v.Date = at.Format(time.RFC3339)
		}
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Commit = setting.Value
		case "vcs.time":
			v.Date = setting.Value
		case "vcs.modified":
			v.Modified = setting.Value == "true"
		}
	}
	v.Version, v.Commit, v.Date = cmp.Or(release, v.Version), cmp.Or(commit, v.Commit), cmp.Or(date, v.Date)
	return v
}

// Version prints the version of this program.
func (c *Console) Version() error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	v := versionOf(info)
	return c.Answer(v, v.text())
}

func (v versionReport) text() string {
	modified := ""
	if v.Modified {
		modified = ", with changes since"
	}
	return fmt.Sprintf("freehold %s\ncommit %s%s\ndate %s\nsidecar format %d\ngenerated API %d\n%s %s\n",
		v.Version, cmp.Or(v.Commit, "unknown"), modified, cmp.Or(v.Date, "unknown"), v.Format, v.GeneratedAPI, v.Go, v.Platform)
}
