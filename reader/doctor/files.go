package doctor

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// files says what is wrong with files and directories as such.
func (p *patient) files() {
	found, err := p.dir.Scan(p.manifest)
	if err != nil {
		p.find(p.unusableDirectory(), p.path, "not all of it could be looked at: "+err.Error(), p.opened(err, "let its user read it"))
	}
	p.patches = map[string]time.Time{}
	var readable, fixed, strange []string
	for _, f := range found {
		if f.Written.After(p.newest) && f.Role != "lock" {
			p.newest = f.Written
		}
		if f.Role == "patch" {
			p.patches[f.Owner+"/"+filepath.Base(f.Name)] = f.Written
		}
		if f.Role == "" {
			if p.stranger(f) {
				strange = append(strange, f.Name)
			}
			continue
		}
		if f.Role == "quarantined" {
			continue // kept as it was
		}
		p.modes(f)
		switch {
		case f.Type == "symbolic link":
		case f.Mode&0o077 != 0:
			readable = append(readable, f.Name)
		case f.Mode&0o200 == 0:
			fixed = append(fixed, f.Name)
		}
	}
	p.listed("readable", "other users may read", readable)
	p.listed("read-only", "the state's user may not write", fixed)
	p.listed("strangers", "not Freehold's", strange)
	p.litter(found)
	p.quarantine(found)
}

// mostListed bounds a list in a note.
const mostListed = 8

func (p *patient) listed(about, what string, names []string) {
	if len(names) == 0 {
		return
	}
	text := strings.Join(names[:min(len(names), mostListed)], ", ")
	if more := len(names) - mostListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	p.note(about, "%s: %s", what, text)
}

// stranger looks at what is none of Freehold's, and reports whether it is a
// stranger and nothing else.
func (p *patient) stranger(f store.Entry) bool {
	if filepath.Dir(f.Name) != "." {
		if f.Name != filepath.Join(".freehold", "instances.json") {
			p.find(Unknown, f.Name, fmt.Sprintf("the %s is not Freehold's, and .freehold is for nothing else", f.Type), p.away(f.Name))
		}
		return false
	}
	for _, owner := range p.manifest.Declaration.OwnerNames() {
		if strings.EqualFold(f.Name, store.FilesOf(owner).Sidecar) {
			p.find(Twin, f.Name, fmt.Sprintf("it is not the sidecar %s of owner %s, and nobody reads it: letters of another case make another name", store.FilesOf(owner).Sidecar, owner), p.away(f.Name).but("look at it first"))
			return false
		}
	}
	if strings.EqualFold(f.Name, ".freehold") {
		p.find(Twin, f.Name, "it is not the state's .freehold, and nobody reads it: letters of another case make another name", p.away(f.Name).but("look at it first"))
		return false
	}
	if owner, ok := p.sidecarOf(f); ok {
		p.find(SidecarUndeclared, f.Name, fmt.Sprintf("it is a sidecar of owner %.80q, and nobody reads it under this name", owner), p.away(f.Name).but("or declare its owner and give it back its name")).Owner = ""
		return false
	}
	return true
}

// sidecarOf returns the owner of a sidecar under a name that is no declared
// owner's.
func (p *patient) sidecarOf(f store.Entry) (owner string, ok bool) {
	if f.Type != "file" || f.Size == 0 || f.Size > store.MaxSidecar {
		return "", false
	}
	return p.dir.OwnerIn(f.Name)
}

// modes says who else may write a file, and whether it is one.
func (p *patient) modes(f store.Entry) {
	folders := []store.Role{"state", "meta", "pending", "claims", "quarantine", "upgrade"}
	want := "file"
	if slices.Contains(folders, f.Role) {
		want = "directory"
	}
	said := []store.Role{"sidecar", "lock", "claim", "patch", "staged"}
	who := func(found *Finding) { found.Owner = f.Owner }
	switch {
	case f.Type != want && !slices.Contains(said, f.Role): // of the others, whoever reads them says it
		who(p.find(Irregular, f.Name, fmt.Sprintf("it is a %s and should be a %s", f.Type, want), p.away(f.Name)))
		return
	case want == "file" && f.Links > 1 && !slices.Contains(said, f.Role):
		who(p.find(Irregular, f.Name, fmt.Sprintf("it has %d names (hard links), and could be anybody's file", f.Links), p.unlinked(f.Name)))
	case f.Type == "symbolic link":
		return
	}
	if f.UID != store.User() {
		who(p.find(OtherUser, f.Name, fmt.Sprintf("it belongs to user %d and this process runs as user %d", f.UID, store.User()), p.on(f.Name, "chown", fmt.Sprint(store.User()))))
	}
	if f.Mode&0o022 != 0 {
		who(p.find(OthersWrite, f.Name, fmt.Sprintf("mode %04o lets others write in it", f.Mode.Perm()), p.on(f.Name, "chmod", "go-w")))
	}
	if len(f.Attributes) > 0 {
		who(p.find(Attributes, f.Name, fmt.Sprintf("the next commit replaces the file and loses its %s; mode and group stay", strings.Join(f.Attributes, ", ")), p.bare(f)))
	}
}

// bare returns the command that takes the extended attributes from a file.
func (p *patient) bare(f store.Entry) remedy {
	if slices.ContainsFunc(f.Attributes, func(name string) bool { return strings.HasPrefix(name, "system.posix_acl") }) {
		return p.on(f.Name, "setfacl", "-b").but("give access by mode and group instead")
	}
	each := make([]string, len(f.Attributes))
	for i, name := range f.Attributes {
		each[i] = p.on(f.Name, "setfattr", "-x", name).text
	}
	return remedy{text: strings.Join(each, " && "), command: true}
}

// litter says what killed processes left.
func (p *patient) litter(found []store.Entry) {
	for _, e := range found {
		switch {
		case e.Role != "staged":
		case e.Err != nil:
			p.find(p.unusableDirectory(), p.path, "it could not be told what killed processes left: "+e.Err.Error(), p.opened(e.Err, "let its user read it"))
		case e.Orphaned:
			p.find(Litter, e.Name, "a killed process left it; it counts for nothing", p.run("prune"))
		default:
			p.note("staged", "%s is being written, or a process holds the lock that its writer held", e.Name)
		}
	}
}

// quarantine says what was moved out of the way.
func (p *patient) quarantine(found []store.Entry) {
	var files, bytes int64
	var newest time.Time
	why := map[string]fs.FileMode{}
	for _, f := range found {
		if f.Role != "quarantined" {
			continue
		}
		files, bytes = files+1, bytes+f.Size
		if f.Written.After(newest) {
			newest = f.Written
		}
		if name, ok := strings.CutSuffix(f.Name, ".why"); ok {
			why[name] = f.Mode
		}
	}
	if files == 0 {
		return
	}
	p.note("quarantine", "files that were moved out of the way: %d, with %d bytes, the newest of %s: %s", files, bytes, newest.UTC().Format(time.RFC3339), filepath.Join(p.path, ".freehold", "quarantine"))
	for _, f := range found {
		if _, kept := why[f.Name]; !kept || f.Role != "quarantined" {
			continue
		}
		reason, err := p.dir.Kept(filepath.Base(f.Name))
		if err != nil {
			reason = err.Error()
		}
		p.find(PatchKept, f.Name, "a pending patch could not be folded: "+reason, p.on(f.Name+".why", "rm", filepath.Join(p.path, f.Name)).but("first write what of it should count"))
	}
}
