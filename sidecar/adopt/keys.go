package adopt

import (
	"iter"

	"github.com/freehold-dev/freehold/schema"
)

// A keys says which name each key of an object is for: the legacy key where a
// field declares one, and the field's own name unless another field takes that
// for its legacy key.
type keys struct {
	names  map[string]string // by key
	folded map[string]string // a key by its folded spelling
	rest   string            // the map that all other keys are of, if there is one
}

func keysOf(fields map[string]schema.Field) *keys {
	k := &keys{names: map[string]string{}, folded: map[string]string{}}
	for name, f := range fields {
		if f.Legacy == schema.LegacyFile {
			k.rest = name
		}
	}
	for name := range fields {
		if k.rest == "" { // else own names could be keys of the map
			k.names[name] = name
		}
	}
	for name, f := range fields {
		if f.Legacy != "" && f.Legacy != schema.LegacyFile {
			k.names[f.Legacy] = name
		}
	}
	for key := range k.names {
		k.folded[schema.FoldCase(key)] = key
	}
	return k
}

// owned yields the members of o, which stands at a spot, that a name is
// declared for. The others it reports.
func (c *converter) owned(k *keys, at spot, o schema.Object) iter.Seq2[string, schema.ObjectMember] {
	return func(yield func(string, schema.ObjectMember) bool) {
		taken := map[string]string{}
		for _, m := range o {
			name, ok := k.names[m.Name]
			first, twice := taken[name]
			switch {
			case !ok && k.rest != "": // of the map that is the file
			case !ok:
				c.unowned = append(c.unowned, Unowned{at.at.AppendToken(m.Name), k.folded[schema.FoldCase(m.Name)]})
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

// Extend returns what the state's declaration d and a later one, built, declare
// together, with the legacy keys that built gives the fields of both. It
// returns an error that wraps [schema.ErrDeclaration] if they contradict each
// other.
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

// legacyKeys returns fields with the legacy keys that built has for them.
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
