package tool

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/freehold-dev/freehold/reader"
	library "github.com/freehold-dev/freehold/sidecar/store"
	"github.com/rogpeppe/go-internal/lockedfile"
)

func flagsInVariable(dir string) {
	flags := os.O_RDWR | os.O_CREATE
	f, _ := os.OpenFile(filepath.Join(dir, "cost.json"), flags, 0o600) // want `cost.json is the sidecar`
	f.WriteString("{}")
	look := os.O_RDONLY
	os.OpenFile(filepath.Join(dir, "cost.json"), look, 0)
}

func named(dir string) {
	os.Remove(filepath.Join(dir, library.Sidecar("cost"))) // want `cost.json is the sidecar`
	os.Remove(filepath.Join(dir, library.Sidecar("report")))
	os.Remove(strings.Join([]string{dir, "cost.json"}, "/")) // want `cost.json is the sidecar`
	elements := []string{dir, "cost.json"}
	os.Remove(filepath.Join(elements...)) // want `cost.json is the sidecar`
	var file string
	file = filepath.Join(dir, "cost.json")
	os.Remove(file) // want `cost.json is the sidecar`
}

func belowTheSystem(dir string) {
	syscall.Unlink(dir + "/cost.json")                                // want `cost.json is the sidecar`
	fd, _ := syscall.Open(dir+"/cost.json", syscall.O_WRONLY, 0)      // want `cost.json is the sidecar`
	syscall.Open(dir+"/cost.json", syscall.O_RDONLY, 0)               // it only looks
	syscall.Open(dir+"/cost.json", syscall.O_CREAT|syscall.O_EXCL, 0) // want `cost.json is the sidecar`
	syscall.Close(fd)
}

func withLocks(dir string) {
	f, _ := lockedfile.Edit(filepath.Join(dir, "cost.json")) // want `cost.json is the sidecar`
	io.WriteString(f, "{}")
	same := func(text []byte) ([]byte, error) { return text, nil }
	lockedfile.Transform(filepath.Join(dir, "cost.json"), same)                      // want `cost.json is the sidecar`
	lockedfile.OpenFile(filepath.Join(dir, "cost.json"), os.O_RDWR|os.O_TRUNC, 0600) // want `cost.json is the sidecar`
	lockedfile.OpenFile(filepath.Join(dir, "cost.json"), os.O_RDONLY, 0)
	lockedfile.Edit(filepath.Join(dir, "report.json"))
}

func rootInRoot(root *os.Root) {
	private, _ := root.OpenRoot(".freehold")
	private.Remove("manifest.json") // want `only the library may write in .freehold`
	public, _ := root.OpenRoot("site")
	public.Remove("manifest.json")
}

func all(dir string) {
	for _, owner := range []string{"cost", "report"} {
		os.Remove(filepath.Join(dir, owner+".json")) // want `cost.json is the sidecar`
	}
	names := []string{"report.json", "index.json"}
	for _, name := range names {
		os.Remove(filepath.Join(dir, name))
	}
	for _, name := range []string{"cost.json"} {
		os.ReadFile(filepath.Join(dir, name))
	}
	os.CopyFS(filepath.Join(dir, ".freehold"), os.DirFS("x")) // want `only the library may write in .freehold`
	os.CopyFS("backup", os.DirFS(dir))
}

func shown(owners []reader.OwnerStatus, p reader.Provenance) {
	for _, o := range owners {
		os.Remove(o.File) // want `the view says where the sidecar of an owner is`
		os.ReadFile(o.File)
		os.Rename("x", o.File+".bak")
		os.Remove(filepath.Join("backup", filepath.Base(o.File)))
	}
	file := p.File
	os.WriteFile(file, nil, 0o600) // want `the view says where the sidecar of an owner is`
	os.WriteFile(p.Owner, nil, 0o600)
}

func (s store) path(name string) string {
	file := filepath.Join(s.dir, name)
	return file
}

func inTwoSteps(s store) {
	os.Remove(s.path("cost.json")) // want `cost.json is the sidecar`
	os.Remove(s.path("report.json"))
}
