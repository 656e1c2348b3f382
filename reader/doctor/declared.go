package doctor

import "path/filepath"

// declared compares the declaration that the caller has with the manifest.
func (p *patient) declared() {
	if p.Declaration == nil {
		return
	}
	file, _ := filepath.Abs(p.Declared)
	_, more, err := p.manifest.Merge(p.Declaration)
	switch {
	case err != nil:
		p.find(DeclarationContradicts, file, err.Error(), p.run("state", "upgrade", "--owners", file).but("with --dry-run it says what it would do"))
	case more:
		p.note("declaration", "%s declares more than the state: the first program that is built from it adds that", p.Declared)
	default:
		p.note("declaration", "all that %s declares, the state has", p.Declared)
	}
}
