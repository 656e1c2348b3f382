package program

import (
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// container returns the map or array that v is, or is a slice of, if the code
// makes it here; or nil.
func (p *Package) container(v ssa.Value) ssa.Value {
	switch v := p.Origin(v).(type) {
	case *ssa.MakeMap, *ssa.Alloc:
		return v
	case *ssa.Slice:
		if v.Low == nil && v.High == nil {
			return p.container(v.X)
		}
	case *ssa.UnOp:
		if alloc, ok := v.X.(*ssa.Alloc); ok && v.Op == token.MUL {
			return alloc
		}
	}
	return nil
}

// An element is one that a statement puts into a map or an array.
type element struct{ key, value ssa.Value }

// add notes an element that a statement puts into a map, slice or array.
func (p *Package) add(into, key, value ssa.Value) {
	if c := p.container(into); c != nil {
		p.elements[c] = append(p.elements[c], element{key, value})
	}
}

// exact returns the text of a constant, or "".
func exact(v ssa.Value) string {
	if c, ok := v.(*ssa.Const); ok && c.Value != nil {
		return c.Value.ExactString()
	}
	return ""
}

// Element returns the element of v, a map or slice that the code spells out,
// at a constant key; nil if the code does not tell it or sets it twice.
func (p *Package) Element(v, key ssa.Value) ssa.Value { return p.at(v, exact(key)) }

func (p *Package) at(v ssa.Value, key string) (found ssa.Value) {
	for _, e := range p.elements[p.container(v)] {
		switch text := exact(e.key); {
		case text == "", text == key && found != nil:
			return nil
		case text == key:
			found = e.value
		}
	}
	return found
}

// List returns the elements of a slice that the code spells out, and whether
// it does.
func (p *Package) List(v ssa.Value) (list []ssa.Value, ok bool) {
	if c, ok := v.(*ssa.Const); ok {
		return nil, c.IsNil()
	}
	for i := range p.elements[p.container(v)] {
		element := p.at(v, strconv.Itoa(i))
		if element == nil {
			return nil, false
		}
		list = append(list, element)
	}
	return list, list != nil
}

// Turns returns the values that v has in the turns of a loop over a map or
// slice that the code spells out; nil if v is no variable of such a loop.
func (p *Package) Turns(v ssa.Value) (values []ssa.Value) {
	over, keys := loop(v)
	if over == nil {
		return nil
	}
	for _, e := range p.elements[p.container(over)] {
		if keys {
			e.value = e.key
		}
		values = append(values, e.value)
	}
	return values
}

// loop returns the map or slice if v is the key or the element in a loop over one.
func loop(v ssa.Value) (over ssa.Value, keys bool) {
	var index ssa.Value
	switch v := v.(type) {
	case *ssa.Extract:
		if next, ok := v.Tuple.(*ssa.Next); ok && !next.IsString {
			return next.Iter.(*ssa.Range).X, v.Index == 1
		}
	case *ssa.UnOp:
		if at, ok := v.X.(*ssa.IndexAddr); ok {
			over, index = at.X, at.Index
		}
	case *ssa.Index:
		over, index = v.X, v.Index
	}
	if sum, ok := index.(*ssa.BinOp); ok {
		if counter, ok := sum.X.(*ssa.Phi); ok && counter.Comment == "rangeindex" {
			return over, false
		}
	}
	return nil, false
}

// Uses yields the instructions that use v, also in another type, out of a
// variable or by an embedded field, each with the operand that stands for v.
func (p *Package) Uses(v ssa.Value) iter.Seq2[ssa.Instruction, ssa.Value] {
	return func(yield func(ssa.Instruction, ssa.Value) bool) {
		aliases := []ssa.Value{v}
		for i := 0; i < len(aliases); i++ {
			if aliases[i].Referrers() == nil {
				continue
			}
			for _, use := range *aliases[i].Referrers() {
				next, passes := passed(use, aliases[i])
				for _, alias := range next {
					if !slices.Contains(aliases, alias) {
						aliases = append(aliases, alias)
					}
				}
				if !passes && !yield(use, aliases[i]) {
					return
				}
			}
		}
	}
}

// passed returns the values by which v goes on after use, and whether use does
// no more than to pass v on.
func passed(use ssa.Instruction, v ssa.Value) (next []ssa.Value, passes bool) {
	switch use := use.(type) {
	case *ssa.Store:
		if alloc, ok := use.Addr.(*ssa.Alloc); ok && use.Val == v {
			return []ssa.Value{alloc}, true
		}
		return nil, use.Addr == v
	case *ssa.MakeClosure:
		fn := use.Fn.(*ssa.Function)
		for i, bound := range use.Bindings {
			if bound == v && fn.Object() == nil {
				next = append(next, fn.FreeVars[i])
			}
		}
		return next, next != nil
	case *ssa.FieldAddr:
		if Field(use).Embedded() {
			return []ssa.Value{use}, true
		}
	case *ssa.UnOp:
		return []ssa.Value{use}, use.Op == token.MUL
	case *ssa.Phi, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.Convert, *ssa.Slice:
		return []ssa.Value{use.(ssa.Value)}, true
	}
	return nil, false
}

// Field returns the field that v is, points to or is read from, or nil.
func Field(v ssa.Value) *types.Var {
	switch v := v.(type) {
	case *ssa.Field:
		return v.X.Type().Underlying().(*types.Struct).Field(v.Field)
	case *ssa.FieldAddr:
		return v.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(v.Field)
	case *ssa.UnOp:
		if at, ok := v.X.(*ssa.FieldAddr); ok && v.Op == token.MUL {
			return Field(at)
		}
	}
	return nil
}
