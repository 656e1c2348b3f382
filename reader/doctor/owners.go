package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// owners says which sidecars cannot be used, and pending patches.
func (p *patient) owners() {
	written := 0
	for _, o := range p.view.Owners() {
		switch {
		case o.Err != nil:
			p.unusable(o)
		case o.Status == store.OK:
			written++
			p.usual("owner", "%s: version %s, written %s", o.Name, o.Version, o.WrittenAt.UTC().Format(time.RFC3339))
			p.members(o.Name)
			p.dated(o)
		default:
			p.usual("owner", "%s: nothing written yet", o.Name)
		}
		if o.Pending > 0 && !p.lostPending[o.Name] {
			p.pending(o)
		}
	}
	p.usual("owners", "%d, of which %d have written", len(p.view.Owners()), written)
}

// dated takes note of when the owner last wrote.
func (p *patient) dated(o reader.OwnerStatus) {
	if o.WrittenAt.After(p.newest) {
		p.newest = o.WrittenAt
	}
	if o.WrittenAt.After(p.Clock().Add(time.Minute)) { // programs and file systems round in different ways
		p.note("clock", "%s was written by a clock that is ahead of this one, which says %s; nothing depends on it but ages", o.Name, p.Clock().UTC().Format(time.RFC3339))
	}
}

// unusable says why the owner's sidecar cannot be used.
func (p *patient) unusable(o reader.OwnerStatus) {
	if p.lostPending[o.Name] && strings.Contains(o.Err.Error(), store.FilesOf(o.Name).Pending) {
		return // found already: the error is about the directory of the pending patches
	}
	code, remedy := SidecarInvalid, p.run("quarantine", o.Name)
	switch {
	case errors.Is(o.Err, store.Newer):
		code, remedy = SidecarNewer, words("use the release that wrote it, or a newer one")
	case o.Status == store.Foreign:
		code, remedy = SidecarForeign, p.accepted(o, "look at it first; "+p.run("quarantine", o.Name).text+" moves it aside instead")
	case o.Status == store.Unreadable:
		code, remedy = SidecarUnreadable, p.mended(store.FilesOf(o.Name).Sidecar, o.Err, remedy)
	case o.Status == store.Regressed && o.Version.IsZero():
		code, remedy = SidecarRegressed, p.run("accept", o.Name).but("or bring the file back")
	case o.Status == store.Regressed:
		code, remedy = SidecarRegressed, p.accepted(o, "or bring the newer file back")
	case o.Status == store.Invalid:
		remedy = p.accepted(o, "look at it first; "+p.run("quarantine", o.Name).text+" moves it aside instead")
	}
	if p.manifest.Pending != nil && code != SidecarNewer {
		remedy = p.run("state", "upgrade").but("until the upgrade is finished, nothing can be repaired; then doctor says how")
	}
	p.find(code, o.File, o.Err.Error(), remedy).Owner = o.Name
}

// accepted is the remedy of a sidecar that another hand wrote, as long as that
// can be accepted; else it is to move it aside.
func (p *patient) accepted(o reader.OwnerStatus, advice string) remedy {
	accept := p.run("accept", o.Name)
	err := p.dir.Acceptable(p.manifest, o.Name)
	if err == nil {
		return accept.but(advice)
	}
	advice = "or mend the file, then run " + accept.text
	if !strings.Contains(o.Err.Error(), err.Error()) {
		advice += "; as it is, it cannot be accepted: " + err.Error()
	}
	return p.run("quarantine", o.Name).but(advice)
}

// members looks at what a sidecar has that is not declared, and whether there can
// be another after it.
func (p *patient) members(owner string) {
	unknown := p.dir.Owner(p.manifest, owner).Undeclared(&p.manifest.Declaration)
	p.listed("undeclared", owner+" has members that are not declared, which commits keep", unknown)
}

// fields says which fields and claims of usable owners cannot be used.
func (p *patient) fields() {
	d := p.view.Declaration()
	for _, owner := range d.OwnerNames() {
		for _, name := range d.Owners[owner].FieldNames() {
			if keeper, _ := d.OwnerOf(name); keeper != owner {
				continue
			}
			e := p.view.Field(name)
			_, err := e.Raw()
			if err == nil || errors.Is(err, reader.ErrUnset) {
				continue
			}
			kind := d.Owners[owner].Fields[name].EffectiveKind()
			if kind == schema.Once {
				p.claim(owner, name, e, err)
			} else if errors.Is(err, store.Invalid) && p.usable(d.OwnersOf(name)) {
				f := p.find(FieldInvalid, store.FilesOf(owner).Sidecar, err.Error(), p.cleared(owner, name, kind))
				f.Owner, f.Field = owner, name
			}
		}
	}
}

// cleared says how to be rid of a value. Only one of kind value can be cleared:
// what the others build on may not vanish.
func (p *patient) cleared(owner, field string, kind schema.Kind) remedy {
	if kind == schema.Value {
		return p.run("clear", owner, field).but("or write it anew by a program of the owner")
	}
	return p.run("quarantine", owner).but(fmt.Sprintf("that unsets all fields of %s; to keep the others, take %s out of the file, then run %s", owner, field, p.run("accept", owner).text))
}

func (p *patient) usable(owners []string) bool {
	for _, name := range owners {
		if o, _ := p.view.Owner(name); o.Err != nil {
			return false
		}
	}
	return true
}

func (p *patient) claim(owner, field string, e reader.Entry, err error) {
	if p.lostClaims[owner] || errors.Is(err, store.Unsafe) {
		return // said already
	}
	from, _ := e.Provenance()
	code := ClaimUnreadable
	switch from.Status {
	case store.Invalid:
		code = ClaimInvalid
	case store.Foreign:
		code = ClaimForeign
	}
	name := filepath.FromSlash(store.ClaimFile(owner, field))
	cure := p.on(name, "rm")
	if info, err := os.Lstat(filepath.Join(p.path, name)); err == nil && info.IsDir() {
		cure = p.away(name)
	}
	f := p.find(code, name, err.Error(), p.mended(name, err, cure.but("look at it first: without the file the field is claimed anew")))
	f.Owner, f.Field = owner, field
}
