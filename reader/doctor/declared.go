package doctor

import "github.com/freehold-dev/freehold/sidecar/statedir"

// declared compares the declaration that the caller has with the manifest.
func (p *patient) declared() {
	if p.Declaration == nil {
		return
	}
	_, more, err := p.manifest.Merge(p.Declaration)
	switch {
	case err != nil:
		p.find(DeclarationContradicts, p.Declared, err.Error(), p.run("state", "upgrade", "--dry-run", "--owners", statedir.ShellWord(p.Declared)))
	case more:
		p.note("declaration", "%s declares more than the state: the first program that is built from it adds that", p.Declared)
	default:
		p.note("declaration", "all that %s declares, the state has", p.Declared)
	}
}
