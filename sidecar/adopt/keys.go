package adopt

import (
	"iter"

	"github.com/freehold-dev/freehold/schema"
)

// A keys maps the keys of an object to field names: legacy keys, and own names
// that no other field uses as its legacy key.
type keys struct {
	names  map[string]string // by key
	folded map[string]string // key by case-folded spelling
	words  map[string]string // field names, and themselves
	rest   string            // the map that takes all other keys, or empty
}

func keysOf(fields map[string]schema.Field) *keys {
	k := &keys{names: map[string]string{}, folded: map[string]string{}, words: map[string]string{}}
	for name, f := range fields {
		k.words[name] = name
		if f.Legacy == schema.LegacyFile {
			k.rest = name
		}
	}
	for name, f := range fields {
		if f.Legacy != "" && f.Legacy != schema.LegacyFile {
			k.names[f.Legacy] = name
		}
		if _, taken := k.names[name]; !taken && k.rest == "" { // a file that is a map may use field names as keys
			k.names[name] = name
		}
	}
	for key := range k.names {
		k.folded[schema.FoldCase(key)] = key
	}
	return k
}

// owned yields the declared members of o, which stands at a spot. It notes the
// others.
func (c *converter) owned(k *keys, at spot, o schema.Object) iter.Seq2[string, schema.ObjectMember] {
	return func(yield func(string, schema.ObjectMember) bool) {
		taken := map[string]string{}
		for _, m := range o {
			name, ok := k.names[m.Name]
			first, twice := taken[name]
			switch {
			case !ok && k.rest != "": // a key of the map that is the file
				if !yield(k.rest, m) {
					return
				}
			case !ok:
				field := k.words[snake(m.Name)]
				if _, given := o.Value(field); given || k.names[field] != field { // it has a key
					field = ""
				}
				c.unowned = append(c.unowned, Place{Pointer: at.at.AppendToken(m.Name), Like: k.folded[schema.FoldCase(m.Name)], Field: field})
			case twice:
				c.complain(at.at.AppendToken(m.Name), "the keys %q and %q are both for %s: take one of them out of the file", first, m.Name, name)
			default:
				taken[name] = m.Name
				if !yield(name, m) {
					return
				}
			}
		}
	}
}

// Extend merges the state's declaration d with built, and takes the legacy keys
// of built. It returns an error that wraps [schema.ErrDeclaration] if they
// contradict each other.
func Extend(d, built *schema.Declaration) (*schema.Declaration, error) {
	merged, _, err := d.Merge(built)
	if err != nil {
		return nil, err
	}
	for name, o := range merged.Owners {
		o.Fields = legacyKeys(o.Fields, built.Owners[name].Fields)
		merged.Owners[name] = o
	}
	return merged, nil
}

// legacyKeys returns fields with the legacy keys of built.
func legacyKeys(fields, built map[string]schema.Field) map[string]schema.Field {
	with := map[string]schema.Field{}
	for name, f := range fields {
		b, ok := built[name]
		if with[name] = f; ok {
			with[name] = legacyOf(f, b)
		}
	}
	return with
}

func legacyOf(f, built schema.Field) schema.Field {
	f.Legacy = built.Legacy
	f.Fields, f.Record = legacyKeys(f.Fields, built.Fields), legacyKeys(f.Record, built.Record)
	for _, part := range []struct{ of, built **schema.Field }{{&f.Of, &built.Of}, {&f.Value, &built.Value}} {
		if *part.of != nil && *part.built != nil {
			with := legacyOf(**part.of, **part.built)
			*part.of = &with
		}
	}
	return f
}
