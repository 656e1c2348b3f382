package reader_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/scratch/document"
	"github.com/freehold-dev/freehold/sidecar/store"
)

const (
	vectorState = "0123456789abcdefghijklmnop" // the state id of every vector
	vectorEpoch = 1786439564031000
)

// A maker makes the state directory of a vector, the same one on every machine:
// nothing in it is drawn at random or taken from a clock. It writes sidecars by
// package document and everything else by hand, as another program would.
type maker struct {
	testing.TB
	dir      string
	manifest *schema.Manifest
	docs     map[string]*document.Document
}

// A step is what a commit does to its owner's document.
type step func(d *document.Document, by document.Provenance)

// nonce returns an id for what it is given, as long as a random one.
func nonce(of ...any) string {
	const digits = "0123456789abcdefghijklmnopqrstuv"
	sum := sha256.Sum256(fmt.Append(nil, of...))
	id := make([]byte, schema.NonceLen)
	for i := range id {
		id[i] = digits[sum[i]%32]
	}
	return string(id)
}

func versionOf(owner string, epoch, revision uint64) document.Version {
	return document.Version{Epoch: vectorEpoch + epoch, Revision: revision, Nonce: nonce(owner, epoch, revision)}
}

func writerOf(owner string) document.Writer {
	return document.Writer{Program: owner + "-hook", Identity: store.Identity{
		Boot: "6f1c7f0e-3a5b-4f0e-9c58-0d6d0c1f2a3b", PIDNamespace: 4026531836, PID: 4711, Start: 81234, Nonce: nonce("identity", owner), PIDFD: 1193,
	}}
}

// save writes a file, below directories that are made.
func (m *maker) save(name string, text []byte) {
	m.Helper()
	path := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		m.Fatal(err)
	}
}

// settle writes the manifest, and the directories that it speaks of. Those are
// kept in Git by files that no reader looks at.
func (m *maker) settle() {
	m.Helper()
	m.manifest.Locks = map[string]uint64{"state.lock": 1}
	for i, owner := range m.manifest.Declaration.OwnerNames() {
		o := m.manifest.Declaration.Owners[owner]
		m.manifest.Locks[store.FilesOf(owner).Lock] = uint64(100*i + 101)
		if o.EffectiveMode() == schema.Exclusive {
			m.manifest.Locks[store.FilesOf(owner).Lease] = uint64(100*i + 102)
			m.manifest.Locks[store.FilesOf(owner).Fence] = uint64(100*i + 103)
		}
		if o.Claims() {
			if m.manifest.Claims == nil {
				m.manifest.Claims = map[string]uint64{}
			}
			m.manifest.Claims[owner] = uint64(100*i + 104)
			m.save(".freehold/claims/"+owner+"/.keep", nil)
		}
		if path := ".freehold/" + store.FilesOf(owner).Pending; o.Defers() && m.absent(path) {
			m.save(path+"/.keep", nil)
		}
	}
	text, err := m.manifest.Marshal()
	if err != nil {
		m.Fatal(err)
	}
	m.save(".freehold/manifest.json", text)
}

func (m *maker) absent(name string) bool {
	_, err := os.Lstat(filepath.Join(m.dir, filepath.FromSlash(name)))
	return err != nil
}

// commit makes the next version of owner's sidecar and returns its text.
func (m *maker) commit(owner string, steps ...step) []byte {
	m.Helper()
	d := m.docs[owner]
	if d == nil {
		d = document.New(owner, vectorState)
		m.docs[owner] = d
	}
	epoch, revision := d.Version.Epoch, d.Version.Revision+1
	return m.commitAs(owner, max(epoch, vectorEpoch)-vectorEpoch, revision, steps...)
}

// commitAs is commit in another epoch, or out of turn.
func (m *maker) commitAs(owner string, epoch, revision uint64, steps ...step) []byte {
	m.Helper()
	d := m.docs[owner]
	v, at := versionOf(owner, epoch, revision), now.Add(time.Duration(revision)*time.Second)
	d.Commit(v, at, writerOf(owner))
	for _, s := range steps {
		s(d, document.Provenance{Version: v, At: at, Program: owner + "-hook", PID: 4711})
	}
	text, err := d.Encode()
	if err != nil {
		m.Fatal(err)
	}
	m.save(store.FilesOf(owner).Sidecar, text)
	return text
}

// set gives fields values, or clears them where the JSON is empty.
func set(fields ...string) step {
	return func(d *document.Document, by document.Provenance) {
		for i := 0; i < len(fields); i += 2 {
			if fields[i+1] == "" {
				d.Clear(fields[i], by)
			} else {
				d.Set(fields[i], []byte(fields[i+1]), by)
			}
		}
	}
}

// rowsOf makes a map of a field.
func rowsOf(field string, rows ...document.Row) step {
	return func(d *document.Document, by document.Provenance) { d.SetRows(field, rows, by) }
}

// saw gives a field the value 1, by somebody who had observed o.
func saw(field string, o document.Observation) step {
	return func(d *document.Document, by document.Provenance) {
		d.Set(field, []byte("1"), by)
		d.Observe(field, o)
	}
}

func begin(field, token string) step {
	return func(d *document.Document, by document.Provenance) { d.Begin(field, token, by) }
}

func end(field, token string) step {
	return func(d *document.Document, _ document.Provenance) { d.End(field, token) }
}

// pending defers a patch of owner, some seconds after the vectors' time.
func (m *maker) pending(owner string, seq int, ops string) (id string) {
	m.Helper()
	id = nonce("patch", owner, seq)
	m.save(".freehold/"+owner+".pending/"+id+".json", m.patch(owner, id, seq, ops))
	return id
}

func (m *maker) patch(owner, id string, seq int, ops string) []byte {
	at := now.Add(time.Hour + time.Duration(seq)*time.Second).Format(time.RFC3339Nano)
	w := writerOf(owner).Identity
	return sealed(fmt.Appendf(nil, `{"format":1,"owner":%q,"state":%q,"id":%q,"at":%q,"writer":{"program":"late-hook","identity":{"boot":%q,"pid_ns":%d,"pid":%d,"start":%d,"nonce":%q}},"ops":%s,"sum":%q}`+"\n",
		owner, vectorState, id, at, w.Boot, w.PIDNamespace, w.PID, w.Start, w.Nonce, ops, strings.Repeat("0", 64)))
}

// claim makes the claim of a field.
func (m *maker) claim(owner, field string) []byte {
	m.Helper()
	c := document.Claim{Owner: owner, Field: field, State: vectorState, Nonce: nonce("claim", owner, field), At: now.Add(time.Minute), Writer: writerOf(owner)}
	text, err := c.Encode()
	if err != nil {
		m.Fatal(err)
	}
	m.save(store.ClaimFile(owner, field), text)
	return text
}

var sumInText = regexp.MustCompile(`"sum":"([0-9a-f]{64})"`)

// sealed returns text with its right sum, as the format's documentation says.
func sealed(text []byte) []byte {
	at := sumInText.FindSubmatchIndex(text)
	text = bytes.Clone(text)
	copy(text[at[2]:at[3]], bytes.Repeat([]byte{'0'}, 64))
	sum := sha256.Sum256(text)
	hex.Encode(text[at[2]:at[3]], sum[:])
	return text
}

// edited returns text with the first old replaced, which must be there.
func edited(text []byte, old, by string) []byte {
	if !bytes.Contains(text, []byte(old)) {
		panic(fmt.Sprintf("no %s in %s", old, text))
	}
	return bytes.Replace(text, []byte(old), []byte(by), 1)
}
