package schema

import (
	_ "embed" // for the schema of owners.yaml
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// OwnersSchema is the JSON Schema, draft 2020-12, of owners.yaml, by which
// editors complete and check the file. It holds the rules for one value or one
// owner at a time.
//
//go:embed owners.schema.json
var OwnersSchema []byte

// A Declaration is the content of one owners.yaml: which owners a state has and
// which fields each of them owns. The zero value declares nothing. A
// Declaration is data; it is safe for concurrent use as long as nobody
// changes it.
type Declaration struct {
	// State is the state's name; it names the view package too.
	State string `json:"state"`
	// Package is the Go name of the view package. If empty, State.
	Package string `json:"package,omitempty"`
	// Instances says that there is a state of this declaration for each
	// session, project or the like. If zero, there is one.
	Instances Instances `json:"instances,omitzero"`
	// Module is the path of the Go module that the declaration was generated in. If
	// empty, the declaration is no generated one. It takes no part in comparisons.
	Module string `json:"module,omitzero"`
	// Owners by name.
	Owners map[string]Owner `json:"owners"`
}

// Instances describes the instances of a declaration. The directory of
// such a state holds one directory for each, a state of its own.
type Instances struct {
	// By is the name of the id of an instance: session_id.
	By string `json:"by"`
}

// An Owner is the one declared role that may write a set of fields.
type Owner struct {
	// Doc describes the programs that play the role.
	Doc string `json:"doc,omitempty"`
	// Mode says how many processes may play it at once. If empty, [Shared].
	Mode Mode `json:"mode,omitempty"`
	// Busy rules a commit while another process holds the lock.
	Busy Busy `json:"busy,omitzero"`
	// Durability is the failure that an acknowledged commit survives. If empty, [Power].
	Durability Durability `json:"durability,omitempty"`
	// Home is the directory, slash-separated and relative to the module
	// root, whose packages may write the owner's fields. If empty, the
	// folder of owners.yaml joined with the owner's name.
	Home string `json:"home,omitempty"`
	// Fields by name.
	Fields map[string]Field `json:"fields"`
}

// Busy rules a commit that does not get its owner's lock.
type Busy struct {
	// Wait is how long a commit waits for the lock, as [time.ParseDuration]
	// reads it. If empty, [DefaultWait].
	Wait string `json:"wait,omitempty"`
	// Then rules the commit after that. If empty, [Fail].
	Then Then `json:"then,omitempty"`
}

// Mode says how many processes may play an owner at once.
type Mode string

// The modes of an owner.
const (
	Shared    Mode = "shared"    // many processes take turns
	Exclusive Mode = "exclusive" // one live process
)

// Durability is the failure that an acknowledged commit survives.
type Durability string

// The levels of durability.
const (
	// Power: an acknowledged commit survives power loss.
	Power Durability = "power"
	// Process: an acknowledged commit survives the death of any process.
	// After power loss the file is an earlier whole version, never an empty
	// or a torn one.
	Process Durability = "process"
)

// Then is the outcome of a commit that did not get its owner's lock in time.
type Then string

// The outcomes of a commit that did not get its owner's lock in time.
const (
	Fail  Then = "fail"  // an error; nothing changed
	Defer Then = "defer" // its patch is kept pending, and a later commit folds it
)

// DefaultWait is how long a commit waits for its owner's lock when the
// declaration does not say.
const DefaultWait = 250 * time.Millisecond

// Instanced reports whether d has instances.
func (d *Declaration) Instanced() bool { return d.Instances.By != "" }

// OwnerNames returns the names of d's owners, sorted.
func (d *Declaration) OwnerNames() []string { return slices.Sorted(maps.Keys(d.Owners)) }

// FieldNames returns the names of o's fields, sorted.
func (o Owner) FieldNames() []string { return slices.Sorted(maps.Keys(o.Fields)) }

// Claims reports whether o has a once field.
func (o Owner) Claims() bool {
	for _, f := range o.Fields {
		if f.EffectiveKind() == Once {
			return true
		}
	}
	return false
}

// EffectiveMode is o.Mode, or [Shared] where it is empty.
func (o Owner) EffectiveMode() Mode { return or(o.Mode, Shared) }

// EffectiveDurability is o.Durability, or [Power] where it is empty.
func (o Owner) EffectiveDurability() Durability { return or(o.Durability, Power) }

// EffectiveWait is how long a commit waits for o's lock. A Wait that does not
// parse counts as [DefaultWait]: package declare and [ParseManifest] refuse it
// long before.
func (o Owner) EffectiveWait() time.Duration {
	if wait, err := time.ParseDuration(o.Busy.Wait); err == nil && wait >= 0 {
		return wait
	}
	return DefaultWait
}

// LongestWait returns the longest of the owners' [Owner.EffectiveWait]: how long
// a caller waits for the locks of all of them.
func (d *Declaration) LongestWait(owners []string) (longest time.Duration) {
	for _, owner := range owners {
		longest = max(longest, d.Owners[owner].EffectiveWait())
	}
	return longest
}

// Defers reports whether a commit that does not get o's lock in time sets
// its patch pending.
func (o Owner) Defers() bool { return o.Busy.Then == Defer }

func or[T ~string](v, otherwise T) T {
	if v == "" {
		return otherwise
	}
	return v
}

// Embedded returns a function that parses text, a declaration as JSON, when it
// is first called. All calls return the same Declaration, which nobody may
// change. The function panics if text is no declaration; it is for generated
// code.
func Embedded(text string) func() *Declaration {
	return sync.OnceValue(func() *Declaration {
		d := new(Declaration)
		if err := json.Unmarshal([]byte(text), d); err != nil {
			panic(fmt.Sprintf("schema: the embedded declaration is damaged: %v", err))
		}
		return d
	})
}
