package sidecar

import (
	"os"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A key that another hand has edited keeps its incarnation, and so what other
// owners have there; one that it added is created by the acceptance.
func TestAcceptKeepsTheIncarnationsItFinds(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.update("tool", use)
	old := s.born("creator", "deploy")
	s.edit("creator", `"skills":{"deploy":{}}`, `"skills":{ "deploy" : {"weight":2}, "a\u002fb":{ } }`)
	s.accept("creator")
	s.wantStored("creator", map[string]string{"skills": `{"a/b":{},"deploy":{"weight":2}}`})
	if got := s.born("creator", "deploy"); got != old {
		t.Errorf("the edited key is of incarnation %v, want %v", got, old)
	}
	if got := s.born("creator", "a/b"); got != s.doc("creator").Version {
		t.Errorf("the new key is of incarnation %v", got)
	}
	s.update("tool", func(tx *Tx) {
		if n, ok := skillsPart(tx).Key("deploy").UseCount().Get(); n != 1 || !ok {
			t.Errorf("use_count is %v, %v", n, ok)
		}
	})
}

func TestAcceptAttachesWhatAnotherHandAdded(t *testing.T) {
	s := newUsage(t)
	s.update("creator", func(tx *Tx) {
		create(tx)
		skillsMap(tx).Insert("review")
	})
	s.update("tool", use)
	s.edit("tool", `{"deploy":{"use_count":1}}`, `{"deploy":{"use_count":2},"review":{"use_count":5},"absent":{"use_count":5}}`)
	_, err := Accept(t.Context(), s.dir, "tool", nil)
	wantError(t, err, ErrNoKey, `key "absent"`, "quarantine tool")
	// It was refused, so that the file is as the other hand left it.
	text := readFile(t, sidecarPath(s.dir, "tool"))
	s.overwrite("tool", strings.Replace(text, `,"absent":{"use_count":5}`, "", 1))
	s.accept("tool")
	for _, key := range []string{"deploy", "review"} {
		if got, want := s.born("tool", key), s.born("creator", key); got != want {
			t.Errorf("%s is attached to %v, want %v", key, got, want)
		}
	}
	s.wantStored("tool", map[string]string{"skills": `{"deploy":{"use_count":2},"review":{"use_count":5}}`})
}

func TestAcceptPutsValuesInOrder(t *testing.T) {
	s := newUsage(t)
	s.update("tool", func(tx *Tx) { tx.Apply(Op{Field: "labels", Verb: schema.VerbInsert, Value: []byte(`"x"`)}) })
	s.edit("tool", `"labels":["x"]`, `"labels":["b", "a","b"],"target":{"port":1, "host":"h","zone":[ 1 ]},"seen":{"b":1,"a":2}`)
	s.accept("tool")
	s.wantStored("tool", map[string]string{"labels": `["a","b"]`, "target": `{"host":"h","port":1,"zone":[1]}`, "seen": `{"a":2,"b":1}`})
	for _, bad := range []string{`"labels":[null]`, `"seen":{"a":null}`, `"seen":{"a\n":1}`, `"target":null`, `"skills":{"deploy":{"use_count":-1}}`} {
		s.edit("tool", `"labels":["a","b"]`, `"labels":["a","b"],`+strings.Replace(bad, `"labels"`, `"tags"`, 1))
		_, err := Accept(t.Context(), s.dir, "tool", nil)
		if err == nil {
			t.Errorf("%s is accepted", bad)
		}
		s.overwrite("tool", strings.Replace(readFile(t, sidecarPath(s.dir, "tool")), `,`+strings.Replace(bad, `"labels"`, `"tags"`, 1), "", 1))
	}
}

// What a newer release wrote is for that release: neither mending nor
// accepting it helps.
func TestAcceptOfANewerFormatNamesTheReleaseAlone(t *testing.T) {
	dir := newState(t)
	Damaged(dir, "sidecar-newer")
	update(t, openOwner(t, dir, "cost", nil), setNote("first"))
	path := sidecarPath(dir, "cost")
	newer := strings.Replace(readFile(t, path), `"format":1`, `"format":2`, 1)
	if err := os.WriteFile(path, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Accept(t.Context(), dir, "cost", nil)
	wantError(t, err, store.Newer, path, "the file has format 2")
	if r := store.RemedyOf(err); r.Verb != "" || !strings.Contains(r.Note, "use the release that wrote it") {
		t.Errorf("the remedy is %+v, want the release alone", r)
	}
}

// What another hand took away is changed by the acceptance, too: who has observed
// it sees that.
func TestAcceptChangesWhatAnotherHandTookAway(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.update("tool", use)
	s.update("tool", func(tx *Tx) {
		tx.Apply(Op{Field: "labels", Verb: schema.VerbInsert, Value: []byte(`"x"`)})
		tx.Apply(Op{Field: "target", Verb: schema.VerbSet, Value: []byte(`{"host":"h","port":1}`)})
	})
	for owner, fields := range map[string][]string{"creator": {"skills"}, "tool": {"labels", "target", "skills"}} {
		before := s.doc(owner).Version
		text := readFile(t, sidecarPath(s.dir, owner))
		for _, field := range fields {
			raw, _, _ := s.doc(owner).Field(field)
			text = strings.Replace(text, ",\n\""+field+"\":"+string(raw), "", 1)
		}
		s.overwrite(owner, text)
		s.accept(owner)
		doc := s.doc(owner)
		for _, field := range fields {
			raw, by, ok := doc.Field(field)
			if raw != nil || !ok || by.Version != doc.Version || doc.Version.Epoch <= before.Epoch {
				t.Errorf("%s of %s is %s in version %v of %v", field, owner, raw, by.Version, doc.Version)
			}
		}
	}
	s.update("creator", create)
	s.update("tool", use)
	s.wantStored("tool", map[string]string{"skills": `{"deploy":{"use_count":1}}`})
}
