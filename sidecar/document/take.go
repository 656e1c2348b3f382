package document

import "slices"

// Take gives d the field name of another document as the field as: its value,
// who wrote it, and what a newer release noted of it. What d had there goes. A
// field that was never written there leaves none here.
func (d *Document) Take(as string, from *Document, name string) {
	d.Drop(as)
	if i := from.member(name); i >= 0 {
		d.named = true
		d.members = append(d.members, member{quote(as), from.members[i].value, fresh})
	}
	if i := from.entry(name); i >= 0 {
		e := from.fields[i]
		e.key, d.named = quote(as), true
		d.fields = append(d.fields, e)
	}
}

// Drop takes the field name out of d together with who wrote it.
func (d *Document) Drop(name string) {
	if i := d.member(name); i >= 0 {
		d.members = slices.Delete(d.members, i, i+1)
	}
	if i := d.entry(name); i >= 0 {
		d.fields = slices.Delete(d.fields, i, i+1)
	}
}

// Newest returns the largest epoch of any version in d: its own, and those of
// the commits that wrote its fields.
func (d *Document) Newest() uint64 {
	newest := d.Version.Epoch
	for i := range d.fields {
		newest = max(newest, d.fields[i].provenance().Version.Epoch)
	}
	return newest
}
