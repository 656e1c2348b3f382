package document

import (
	"bytes"
	"slices"
)

// adoptedKey is the member of an entry that says in which version a legacy file
// was folded into the field. A release that does not know it keeps it.
var adoptedKey = []byte(`"adopted"`)

// Adopt notes that the commit of d's present version took a legacy file into
// the field name. Sets and maps do not remember what was taken out of them; with
// this note nothing comes back. A field that nobody has written has no place
// for it, and nothing that could.
func (d *Document) Adopt(name string) {
	i := d.entry(name)
	if i < 0 {
		return
	}
	e := &d.fields[i]
	set := e.rewrite()
	if set.extra = slices.Clone(set.extra); set.extra == nil {
		for _, known := range entryNames {
			set.extra = append(set.extra, member{key: quote(known)})
		}
	}
	set.extra = slices.DeleteFunc(set.extra, isAdopted)
	set.extra = append(set.extra, member{key: adoptedKey, value: append(d.Version.append([]byte{'"'}), '"')})
}

// Adopted returns the version in which a legacy file was last folded into the
// field name, or zero.
func (d *Document) Adopted(name string) Version {
	i := d.entry(name)
	if i < 0 {
		return Version{}
	}
	members := split(d.fields[i].raw)
	if e := &d.fields[i]; e.set != nil {
		members = e.set.extra
	}
	for _, m := range members {
		if isAdopted(m) {
			parts, _ := snapshotVersion(bytes.Trim(m.value, `"`)) // what is none was never adopted
			return parts.version()
		}
	}
	return Version{}
}

func isAdopted(m member) bool { return bytes.Equal(unquoteName(m.key), unquoteName(adoptedKey)) }
