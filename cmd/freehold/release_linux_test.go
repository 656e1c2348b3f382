package main

import (
	"debug/buildinfo"
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// A releaseFile is the part of .github/goreleaser.yaml that this project decides.
type releaseFile struct {
	Builds []struct {
		ID, Main, Binary    string
		Env, Flags, Ldflags []string
		Goos, Goarch        []string
	}
	Archives []struct{ Files []yaml.Node }
	Nfpms    []struct {
		Formats  []string
		Contents []struct{ Src, Dst, Type, Packager string }
	}
	Checksum struct {
		Name string `yaml:"name_template"`
	}
}

// A release has every program, for every platform, with completions and manual pages
// that are there. With FREEHOLD_RELEASE set, as in CI, the programs of all platforms
// are built by the flags of the file; without, none is.
func TestReleaseIsWhole(t *testing.T) {
	text, err := os.ReadFile("../../.github/goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r releaseFile
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	pages := t.TempDir()
	cmd := exec.Command("../../.ci/pages", pages)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var made []string
	err = filepath.WalkDir(pages, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(pages, name)
			made = append(made, filepath.ToSlash(rel))
			if info, err := e.Info(); err != nil || info.Size() == 0 {
				t.Errorf("%s is empty: %v", rel, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(made, "man/man1/freehold-view.1.gz") || !slices.Contains(made, "completions/freehold.bash") {
		t.Errorf("the pages are %q", made)
	}
	for _, source := range r.sources() {
		inRelease, ok := strings.CutPrefix(source, ".release/")
		inRelease, _, _ = strings.Cut(inRelease, "*") // a pattern names what begins so
		there := ok && slices.ContainsFunc(made, func(name string) bool { return strings.HasPrefix(name, inRelease) })
		if _, err := os.Stat(filepath.Join("../..", source)); !ok && err != nil || ok && !there {
			t.Errorf("the release wants %s, which is not there", source)
		}
	}
	if r.Checksum.Name == "" || len(r.Nfpms) != 1 || cmp.Diff([]string{"deb", "rpm"}, r.Nfpms[0].Formats) != "" {
		t.Error("there are no checksums, or not both a deb and an rpm")
	}
	r.build(t)
}

// sources lists the files that archives and packages take, but programs.
func (r releaseFile) sources() (all []string) {
	for _, archive := range r.Archives {
		for _, file := range archive.Files {
			var entry struct{ Src string }
			if file.Decode(&entry) != nil {
				entry.Src = file.Value
			}
			all = append(all, entry.Src)
		}
	}
	for _, p := range r.Nfpms {
		for _, content := range p.Contents {
			all = append(all, content.Src)
		}
	}
	return all
}

// variable matches a variable that the linker sets.
var variable = regexp.MustCompile(`-X ([a-z./-]+)\.([a-z]+)=`)

// build builds the programs for all platforms.
func (r releaseFile) build(t *testing.T) {
	dir := t.TempDir()
	if len(r.Builds) != 2 {
		t.Errorf("%d programs, want freehold and fh", len(r.Builds))
	}
	for _, b := range r.Builds {
		for _, set := range variable.FindAllStringSubmatch(strings.Join(b.Ldflags, " "), -1) {
			from := strings.Replace(set[1], "github.com/freehold-dev/freehold/", "../../", 1)
			if from == "main" {
				from = filepath.Join("../..", b.Main)
			}
			// The linker ignores a variable that is not there.
			if out, _ := exec.Command("grep", "-rlE", `^var .*\b`+set[2]+`\b.* string$`, "--include=*.go", from).Output(); len(out) == 0 {
				t.Errorf("%s has no variable %s to be set", from, set[2])
			}
		}
		if info, err := os.Stat(filepath.Join("../..", b.Main)); err != nil || !info.IsDir() {
			t.Errorf("there is no program %s", b.Main)
		}
		platforms := []string{}
		for _, goos := range b.Goos {
			for _, goarch := range b.Goarch {
				platforms = append(platforms, goos+"/"+goarch)
			}
		}
		if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"}, platforms); diff != "" {
			t.Errorf("platforms of %s (-want +got)\n%s", b.ID, diff)
		}
		if os.Getenv("FREEHOLD_RELEASE") == "" {
			continue
		}
		for _, platform := range platforms {
			goos, goarch, _ := strings.Cut(platform, "/")
			name := filepath.Join(dir, b.Binary+"_"+goos+"_"+goarch)
			ldflags := strings.NewReplacer("{{ .Version }}", "9.9.9", "{{ .FullCommit }}", "0123456", "{{ .CommitDate }}", "2026-11-30T01:46:53Z").Replace(strings.Join(b.Ldflags, " "))
			cmd := exec.Command("go", slices.Concat([]string{"build", "-o", name, "-ldflags=" + ldflags}, b.Flags, []string{b.Main})...)
			cmd.Dir, cmd.Env = "../..", slices.Concat(os.Environ(), b.Env, []string{"GOOS=" + goos, "GOARCH=" + goarch})
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s for %s: %v\n%s", b.ID, platform, err, out)
				continue
			}
			checkBinary(t, name, goos, goarch)
		}
	}
}

// checkBinary checks that a program is static on Linux, names no path of this machine
// and runs where it can.
func checkBinary(t *testing.T, name, goos, goarch string) {
	t.Helper()
	info, err := buildinfo.ReadFile(name)
	if err != nil {
		t.Error(err)
		return
	}
	for key, want := range map[string]string{"CGO_ENABLED": "0", "-trimpath": "true", "GOOS": goos, "GOARCH": goarch} {
		if !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key && s.Value == want }) {
			t.Errorf("%s is not built with %s=%s", filepath.Base(name), key, want)
		}
	}
	if goos == "linux" {
		f, err := elf.Open(name)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if libraries, _ := f.ImportedLibraries(); len(libraries) > 0 || slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
			t.Errorf("%s is not static: %q", filepath.Base(name), libraries)
		}
	}
	if goos == runtime.GOOS && goarch == runtime.GOARCH {
		want := " v9.9.9\ncommit 0123456\ndate 2026-11-30T01:46:53Z\n"
		if out, err := exec.Command(name, "version").CombinedOutput(); err != nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), " "+goos+"/"+goarch) {
			t.Errorf("%s version: %v\n%s", filepath.Base(name), err, out)
		}
	}
}
