package ways

import (
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/lockedfile"
)

func underALock(p string) {
	lockedfile.Transform(p, func(b []byte) ([]byte, error) { return append(b, '\n'), nil }) // want `read at more.go:13`
}

func edits(p string) {
	f, _ := lockedfile.Edit(p)
	b, _ := io.ReadAll(f)
	f.Truncate(0) // want `read at more.go:18`
	f.Write(append(b, '\n'))
}

func fills(p string) {
	f, _ := lockedfile.Edit(p)
	f.WriteString("{}")
}

func flagsInVariable(p string) {
	flags := os.O_RDWR | os.O_CREATE
	f, _ := os.OpenFile(p, flags, 0o600)
	b, _ := io.ReadAll(f)
	f.Truncate(0) // want `read at more.go:31`
	f.WriteAt(append(b, '\n'), 0)
}

func systemRename(p string) {
	b, _ := os.ReadFile(p)
	os.WriteFile(p+".tmp", append(b, '\n'), 0o600)
	syscall.Rename(p+".tmp", p) // want `read at more.go:37`
}

func joined(dir string) {
	b, _ := os.ReadFile(strings.Join([]string{dir, "a.json"}, "/"))
	os.WriteFile(dir+"/a.json", append(b, '\n'), 0o600) // want `read at more.go:43`
	os.WriteFile(strings.Join([]string{dir, "b.json"}, "/"), append(b, '\n'), 0o600)
}

func inRoots(a, b *os.Root) {
	x, _ := a.OpenRoot("state")
	y, _ := b.OpenRoot("state")
	text, _ := x.ReadFile("a.json")
	y.WriteFile("a.json", text, 0o600)
	x.WriteFile("a.json", append(text, '\n'), 0o600) // want `read at more.go:51`
}

// pick may return either.
func pick(a, b string, first bool) string {
	p := a
	if !first {
		p = b
	}
	return p
}

func picked(a, b string) {
	text, _ := os.ReadFile(pick(a, b, true))
	os.WriteFile(pick(a, b, false), text, 0o600)
}

func declaredBefore(p, q string) {
	var out string
	text, _ := os.ReadFile(p)
	out = q
	os.WriteFile(out, text, 0o600)
}
