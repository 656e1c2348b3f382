package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/document"
)

// An eater is something that reads a file which may be a stranger's.
type eater struct {
	most  int                     // bytes of such a file
	times uint64                  // how many times that many bytes it may ask for
	open  string                  // what such a file may begin with
	eat   func(text []byte) error // read it
}

func eaters(dir string) map[string]eater {
	legacy := func(text []byte) error {
		path := filepath.Join(dir, "legacy.json")
		old := time.Now().Add(-time.Hour)
		if err := errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, old, old)); err != nil {
			return err
		}
		_, err := adopt.Read(context.Background(), path)
		return err
	}
	sidecar := func(text []byte) error { _, err := document.Decode(text); return err }
	foreign := func(text []byte) error { _, err := document.DecodeForeign(text); return err }
	manifest := func(text []byte) error { _, err := schema.ParseManifest(text); return err }
	patch := func(text []byte) error { _, err := readPatch(context.Background(), bytes.NewReader(text)); return err }
	// YAML's parser asks for memory line by line and lets it go again.
	owners := func(text []byte) error { _, err := declare.Parse("owners.yaml", "owners", text); return err }
	return map[string]eater{
		"sidecar":               {document.MaxSize, 4, `{"$sidecar":{"format":1,"owner":"cost"},"x":`, sidecar},
		"sidecar's envelope":    {document.MaxSize, 4, `{"$sidecar":{"format":1,"x":`, sidecar},
		"sidecar's fields":      {document.MaxSize, 4, `{"$sidecar":{"format":1,"fields":`, sidecar},
		"sidecar's commits":     {document.MaxSize, 4, `{"$sidecar":{"format":1,"recent":`, sidecar},
		"edited sidecar":        {document.MaxSize, 4, `{"x":`, foreign},
		"no sidecar":            {document.MaxSize, 4, ``, foreign},
		"manifest":              {schema.MaxManifest, 4, `{"format":1,"x":`, manifest},
		"manifest's locks":      {schema.MaxManifest, 4, `{"format":1,"locks":`, manifest},
		"manifest's owners":     {schema.MaxManifest, 4, `{"format":1,"declaration":{"owners":`, manifest},
		"manifest's fields":     {schema.MaxManifest, 4, `{"format":1,"declaration":{"owners":{"a":{"fields":`, manifest},
		"patch":                 {maxPatch, 4, ``, patch},
		"patch's value":         {maxPatch, 4, `[{"field":"a","op":"set","value":`, patch},
		"legacy file":           {adopt.MaxSize, 4, ``, legacy},
		"legacy file's value":   {adopt.MaxSize, 4, `{"x":`, legacy},
		"declaration":           {declare.MaxSize, 32, ``, owners},
		"declaration's owners":  {declare.MaxSize, 32, "state: s\nowners: ", owners},
		"declaration's aliases": {declare.MaxSize, 32, "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d]\nowners: ", owners},
	}
}

// bombs returns texts that an eater must refuse, as large as they may be, that
// make a naive reader build much of little.
func (e eater) bombs() map[string][]byte {
	open, size := e.open, e.most
	repeat := func(unit, last string) []byte {
		n := (size - len(open) - len(last)) / len(unit)
		return []byte(open + strings.Repeat(unit, n) + last)
	}
	keys := []byte(open + "{")
	for i := 0; len(keys) < size-32; i++ {
		keys = fmt.Appendf(keys, `"%x":0,`, i)
	}
	if e.times > 4 {
		return map[string][]byte{
			"lines":       repeat("a:\n", ""),
			"items":       repeat("- a\n", ""),
			"comments":    repeat("# a\n", ""),
			"documents":   repeat("---\na\n", ""),
			"questions":   repeat("? ", ""),
			"keys":        keys,
			"arrays":      repeat("[", ""),
			"long braces": repeat("{b: c, d: e},\n", "c: ["),
			"a text":      repeat("x", `"`),
			"spaces":      repeat(" ", ""),
		}
	}
	return map[string][]byte{
		"keys":        keys,
		"objects":     repeat("{},", ""),
		"in an array": append([]byte(open+"["), repeat("{},", "")[len(open):size-8]...),
		"numbers":     append([]byte(open+"["), repeat("1,", "")[len(open):size-8]...),
		"ids":         append([]byte(open+"["), repeat(`"0000000000001",`, "")[len(open):size-32]...),
		"arrays":      repeat("[", ""),
		"nested":      repeat(`{"a":`, ""),
		"a text":      repeat("x", `"`)[:size-1],
		"escapes":     append([]byte(open+`"`), repeat(`\u0041`, "")[len(open):size-8]...),
		"spaces":      repeat(" ", ""),
		"a number":    repeat("9", ""),
	}
}

// What is refused is refused before anything is built of it. What a reader
// asks for altogether bounds what it has at one time.
func TestNothingIsBuiltOfABomb(t *testing.T) {
	for name, e := range eaters(t.TempDir()) {
		for bomb, text := range e.bombs() {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := e.eat(text)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%s of %s: no error", name, bomb)
			}
			if got, most := after.TotalAlloc-before.TotalAlloc, e.times*uint64(e.most); got > most {
				t.Errorf("%s of %s: it asked for %d bytes to say %.200v, want at most %d", name, bomb, got, err, most)
			}
		}
	}
}

// BenchmarkBomb shows how long it takes to refuse each: for the largest, a
// legacy file of 16 MiB, under 50 ms.
func BenchmarkBomb(b *testing.B) {
	for name, e := range eaters(b.TempDir()) {
		for bomb, text := range e.bombs() {
			b.Run(name+"/"+bomb, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					e.eat(text)
				}
			})
		}
	}
}
