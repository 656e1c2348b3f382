package statedir

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

func TestErrorsSayWhatToDoOfUpgrades(t *testing.T) {
	d := newState(t)
	same := func(how string, err error) {
		t.Helper()
		said.Same(t, how, err, d.Path(), "STATE", filepath.Dir(d.Path()), "DIR")
	}
	unsound := declaration()
	unsound.Owners["cost"].Fields["worse"] = schema.Field{Type: "money"}
	same("create: unsound", Create(filepath.Join(filepath.Dir(d.Path()), "other"), unsound))
	same("create an instance: unsound", CreateInstance(filepath.Join(filepath.Dir(d.Path()), "other"), "i", unsound))
	_, err := d.Upgrade(t.Context(), unsound)
	same("upgrade: unsound", err)
	vast := declaration()
	vast.Owners["cost"] = schema.Owner{Doc: strings.Repeat("x", schema.MaxManifest), Fields: vast.Owners["cost"].Fields}
	same("create: too large a manifest", Create(filepath.Join(filepath.Dir(d.Path()), "other"), vast))

	m, err := d.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	now := *m
	now.StateID = strings.Repeat("0", 26)
	same("still: another state", d.Still(m, &now, declaration()))
	now = *m
	now.Declaration = schema.Declaration{State: "agent"}
	same("still: less than before", d.Still(m, &now, declaration()))
	m.Pending = &schema.Pending{ID: process.NewNonce()}
	if err := d.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	_, err = d.Settled(t.Context())
	same("upgrade: not finished", err)
}
