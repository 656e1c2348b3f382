// Package ways rewrites what it has read in the ways in which people write that.
package ways

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	ioutil "io/ioutil"
	"os"
	. "os"
	"path/filepath"
	"strings"
	"sync"
)

type cfg struct {
	mu   sync.Mutex
	Path string
	m    map[string]int
}

func variables(p string) {
	rd := os.ReadFile
	wr := os.WriteFile
	b, _ := rd(p)
	wr(p, append(b, 1), 0o600) // want `read at ways.go:28`
}

func dotImport(p string) {
	b, _ := ReadFile(p)
	WriteFile(p, append(b, 1), 0o600) // want `read at ways.go:33`
}

var readFile = os.ReadFile
var writeFile = os.WriteFile

func seams(p string) {
	b, _ := readFile(p)
	writeFile(p, append(b, 1), 0o600) // want `read at ways.go:41`
}

func fileSystem(dir string) {
	b, _ := fs.ReadFile(os.DirFS(dir), "x.json")
	os.WriteFile(filepath.Join(dir, "x.json"), append(b, 1), 0o600) // want `read at ways.go:46`
}

func oldPackage(p string) {
	b, _ := ioutil.ReadFile(p)
	ioutil.WriteFile(p, append(b, 1), 0o600) // want `read at ways.go:51`
}

func inPlace(p string) {
	f, _ := os.OpenFile(p, os.O_RDWR, 0)
	defer f.Close()
	var n int
	fmt.Fscan(f, &n)
	f.Seek(0, 0)
	fmt.Fprintln(f, n+1) // want `read at ways.go:59`
}

func atOffsets(p string) {
	f, _ := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o644)
	b := make([]byte, 8)
	f.ReadAt(b, 0)
	b[0]++
	f.WriteAt(b, 0) // want `read at ways.go:67`
}

func byTempFile(p string) error {
	b, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(p), "x*")
	if err != nil {
		return err
	}
	t.Write(bytes.ToUpper(b))
	t.Close()
	return os.Rename(t.Name(), p) // want `read at ways.go:73`
}

type locked struct {
	cfg
}

func (l *locked) bump() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := os.ReadFile(l.Path)
	if err != nil {
		return err
	}
	json.Unmarshal(b, &l.m)
	l.m["x"]++
	b, _ = json.Marshal(l.m)
	return os.WriteFile(l.Path, b, 0o600) // want `read at ways.go:93`
}

func scanner(p string) {
	f, _ := os.Open(p)
	var lines []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	f.Close()
	os.WriteFile(p, []byte(strings.Join(lines, "\n")), 0o644) // want `read at ways.go:106`
}

func pathOf(dir, name string) string { return filepath.Join(dir, name+".json") }
func namedPath(dir string) {
	b, _ := os.ReadFile(pathOf(dir, "a"))
	os.WriteFile(pathOf(dir, "a"), b, 0o644) // want `read at ways.go:116`
}

func root(dir string) {
	r, _ := os.OpenRoot(dir)
	f, _ := r.Open("x")
	b, _ := io.ReadAll(f)
	g, _ := r.Create("x") // want `read at ways.go:123`
	g.Write(b)
}

func closures(p string) {
	read := func() []byte { b, _ := os.ReadFile(p); return b }
	write := func(b []byte) { os.WriteFile(p, b, 0o600) }
	b := read()
	write(append(b, 1)) // want `read at ways.go:129`
}

func inSwitch(p string, add bool) {
	b, _ := os.ReadFile(p)
	switch {
	case add:
		b = append(b, 'x')
		fallthrough
	default:
		os.WriteFile(p, b, 0o600) // want `read at ways.go:136`
	}
}

func deferredClosure(p string) {
	m := map[string]int{}
	b, _ := os.ReadFile(p)
	json.Unmarshal(b, &m)
	defer func() {
		b, _ := json.Marshal(m)
		os.WriteFile(p, b, 0o600) // want `read at ways.go:148`
	}()
	m["x"]++
}

func decode(r io.Reader, v any) { json.NewDecoder(r).Decode(v) }
func givenToDecoder(p string) {
	f, _ := os.Open(p)
	var v map[string]int
	decode(f, &v)
	w, _ := os.Create(p) // want `read at ways.go:161`
	json.NewEncoder(w).Encode(v)
}

func (c *cfg) file() string { return c.Path }
func (c *cfg) twoNames() {
	b, _ := os.ReadFile(c.file())
	os.WriteFile(c.Path, b, 0o600) // want `read at ways.go:168`
}

func goroutine(p string) {
	ch := make(chan []byte)
	go func() { b, _ := os.ReadFile(p); ch <- b }()
	os.WriteFile(p, <-ch, 0o600) // want `read at ways.go:174`
}

func openIt(p string) *os.File { f, _ := os.Open(p); return f }
func openedElsewhere(p string) {
	f := openIt(p)
	b, _ := io.ReadAll(f)
	os.WriteFile(p, b, 0o600) // want `read at ways.go:180`
}

func trimmed(p string) {
	p = strings.TrimSpace(p)
	b, _ := os.ReadFile(p)
	os.WriteFile(p, b, 0o600) // want `read at ways.go:187`
}

func methodExpressions(r *os.Root) {
	b, _ := (*os.Root).ReadFile(r, "x")
	(*os.Root).WriteFile(r, "x", b, 0o600) // want `read at ways.go:192`
}

func copied(p string) {
	f, _ := os.Open(p)
	var buf bytes.Buffer
	io.Copy(&buf, f)
	os.WriteFile(p, buf.Bytes(), 0o600) // want `read at ways.go:199`
}

func spelling(dir string) {
	b, _ := os.ReadFile(dir + "/" + "a.json")
	os.WriteFile(filepath.Join(dir, "./a.json"), b, 0o600) // want `read at ways.go:204`
}

func formatted(dir string, n int) {
	b, _ := os.ReadFile(fmt.Sprintf("%s/%d.json", dir, n))
	os.WriteFile(fmt.Sprintf("%s/%d.json", dir, n), b, 0o600) // want `read at ways.go:209`
}

func buffered(p string) {
	b, _ := os.ReadFile(p)
	tmp := p + ".tmp"
	f, _ := os.Create(tmp)
	w := bufio.NewWriter(f)
	w.Write(b)
	w.Flush()
	f.Close()
	os.Rename(tmp, p) // want `read at ways.go:214`
}

// What a value was made from is not followed: nothing is said of this one.
type st struct {
	p string
	v map[string]int
}

func open(p string) (*st, error) {
	s := &st{p: p}
	b, err := os.ReadFile(p)
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(b, &s.v)
}
func (s *st) flush() error {
	b, _ := json.Marshal(s.v)
	return os.WriteFile(s.p, b, 0o600)
}
func made(p string) {
	s, _ := open(p)
	s.v["x"]++
	s.flush()
}

func retries(p string) error {
	for i := 0; i < 3; i++ {
		b, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		if err := os.WriteFile(p, append(b, 1), 0o600); err == nil { // want `read at ways.go:250`
			return nil
		}
	}
	return nil
}
