package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/cmd/internal/verbs"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/schema/declare"
	"github.com/freehold-dev/freehold/sidecar/adopt"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
)

// An eater is something that reads a file which may be a stranger's.
type eater struct {
	most  int                     // bytes of such a file
	times uint64                  // how many times that many bytes it may ask for
	open  string                  // the beginning of such a file
	eat   func(text []byte) error // read it
	yaml  bool                    // not JSON
	// seal makes a text one that the eater takes for Freehold's own.
	seal func(text []byte)
	// lay puts the text where eat finds it.
	lay func(text []byte) error
}

func eaters(dir string) map[string]eater {
	path := filepath.Join(dir, "legacy.json")
	lay := func(text []byte) error {
		old := time.Now().Add(-time.Hour)
		return errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, old, old))
	}
	legacy := func([]byte) error { _, err := adopt.Read(context.Background(), path); return err }
	claim := func(text []byte) error { _, err := document.DecodeClaim(text); return err }
	pending := func(text []byte) error {
		_, err := document.DecodePatch(text, "x.json", "tool", "id")
		return err
	}
	decode := func(text []byte) error { _, err := document.Decode(text); return err }
	foreign := func(text []byte) error { _, err := document.DecodeForeign(text); return err }
	manifest := func(text []byte) error { _, err := schema.ParseManifest(text); return err }
	patch := func(text []byte) error {
		_, err := verbs.ParsePatch(context.Background(), bytes.NewReader(text))
		return err
	}
	// YAML's parser asks for memory line by line and lets it go again.
	owners := func(text []byte) error { _, err := declare.Parse("owners.yaml", "owners", text); return err }
	return map[string]eater{
		"sidecar":            {most: document.MaxSize, times: 4, open: `{"$sidecar":{"format":1,"owner":"cost"},"x":`, eat: decode},
		"sidecar's envelope": {most: document.MaxSize, times: 4, open: `{"$sidecar":{"format":1,"x":`, eat: decode},
		"sidecar's fields":   {most: document.MaxSize, times: 4, open: `{"$sidecar":{"format":1,"fields":`, eat: decode},
		"sidecar's commits":  {most: document.MaxSize, times: 4, open: `{"$sidecar":{"format":1,"recent":`, eat: decode},
		"edited sidecar":     {most: document.MaxSize, times: 4, open: `{"x":`, eat: foreign},
		"no sidecar":         {most: document.MaxSize, times: 4, open: ``, eat: foreign},
		// A claim is so small that the decoder's own tables count.
		"claim": {most: document.MaxClaim, times: 24, open: `{"format":1,"owner":"hook","x":`, eat: claim},
		// The error of a decoder copies a name ten times.
		"pending patch":         {most: document.MaxPatch, times: 12, open: `{"format":1,"x":`, eat: pending, seal: sealPending},
		"operations deferred":   {most: document.MaxPatch, times: 12, open: `{"format":1,"owner":"tool","state":"id","id":"0000000000001","ops":`, eat: pending, seal: sealPending},
		"operation deferred":    {most: document.MaxPatch, times: 12, open: `{"format":1,"owner":"tool","state":"id","id":"0000000000001","ops":[{"field":"a","op":"insert","value":`, eat: pending, seal: sealPending},
		"manifest":              {most: schema.MaxManifest, times: 4, open: `{"format":1,"x":`, eat: manifest},
		"manifest's locks":      {most: schema.MaxManifest, times: 4, open: `{"format":1,"locks":`, eat: manifest},
		"manifest's owners":     {most: schema.MaxManifest, times: 4, open: `{"format":1,"declaration":{"owners":`, eat: manifest},
		"manifest's fields":     {most: schema.MaxManifest, times: 4, open: `{"format":1,"declaration":{"owners":{"a":{"fields":`, eat: manifest},
		"patch":                 {most: verbs.MaxPatch, times: 4, open: ``, eat: patch},
		"patch's value":         {most: verbs.MaxPatch, times: 4, open: `[{"field":"a","op":"set","value":`, eat: patch},
		"legacy file":           {most: adopt.MaxSize, times: 4, open: ``, eat: legacy, lay: lay},
		"legacy file's value":   {most: adopt.MaxSize, times: 4, open: `{"x":`, eat: legacy, lay: lay},
		"declaration":           {most: declare.MaxSize, times: 32, open: ``, eat: owners, yaml: true},
		"declaration's owners":  {most: declare.MaxSize, times: 32, open: "state: s\nowners: ", eat: owners, yaml: true},
		"declaration's aliases": {most: declare.MaxSize, times: 32, open: "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d]\nowners: ", eat: owners, yaml: true},
	}
}

// sealPending ends text as the file of a pending patch ends.
func sealPending(text []byte) {
	end := `,"sum":"` + strings.Repeat("0", 64) + "\"}\n"
	copy(text[len(text)-len(end):], end)
	sum := sha256.Sum256(text)
	hex.Encode(text[len(text)-len("\"}\n")-64:], sum[:])
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
	if e.yaml {
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
		"a text":      append([]byte(open+`"`), repeat("x", "")[len(open):size-1]...),
		"a name":      append([]byte(open+`{"`), repeat("x", "")[len(open):size-2]...),
		"escapes":     append([]byte(open+`"`), repeat(`\u0041`, "")[len(open):size-8]...),
		"spaces":      repeat(" ", ""),
		"lines":       repeat("\n", ""),
		"a number":    repeat("9", ""),
	}
}

func (e eater) prepare(tb testing.TB, text []byte) {
	tb.Helper()
	if e.seal != nil {
		e.seal(text)
	}
	if e.lay == nil {
		return
	}
	if err := e.lay(text); err != nil {
		tb.Fatal(err)
	}
}

// A refused text is refused before anything is built of it. The sum of a reader's
// allocations bounds its memory.
func TestNothingIsBuiltOfABomb(t *testing.T) {
	for name, e := range eaters(t.TempDir()) {
		for bomb, text := range e.bombs() {
			e.prepare(t, text)
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
				e.prepare(b, text)
				b.ReportAllocs()
				for b.Loop() {
					e.eat(text)
				}
			})
		}
	}
}
