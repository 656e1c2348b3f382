// Package breaking finds the differences between two declarations of a state that
// break programs, promises or old files. It compares two texts: it does not look
// at a state, and cannot know which programs are running.
//
// A finding has a rule, by which owners.breaking.yaml allows it. Each difference that
// an upgrade of a state reports, additions apart, is a finding or a notice.
package breaking

import "slices"

// A Rule names one kind of finding. An exception names it too.
type Rule struct {
	// ID of the rule: FIELD_MOVED.
	ID string
	// Of is the part that a finding is about: "state", "owner" or "field".
	Of string
	// Group names the thing that the rule protects: "data and code", "promises", "code", "old
	// files"; or "notices", which fail nothing.
	Group string
	// Upgrade says that states of the former declaration have to be upgraded.
	Upgrade bool
}

const (
	data     = "data and code"
	promises = "promises"
	code     = "code"
	oldFiles = "old files"
	notices  = "notices"
)

// rules lists the rules by their groups.
var rules = []Rule{
	{"STATE_REMOVED", "state", data, false},
	{"OWNER_REMOVED", "owner", data, true},
	{"FIELD_REMOVED", "field", data, true},
	{"MEMBER_REMOVED", "field", data, true},
	{"ENUM_VALUE_REMOVED", "field", data, true},
	{"FIELD_RENAMED", "field", data, true},
	{"FIELD_MOVED", "field", data, true},
	{"KEYS_MOVED", "field", data, true},
	{"TYPE_CHANGED", "field", data, true},
	{"KIND_CHANGED", "field", data, true},
	{"INSTANCES_CHANGED", "state", data, false},
	{"MODE_CHANGED", "owner", promises, true},
	{"DURABILITY_LOWERED", "owner", promises, false},
	{"BUSY_CHANGED", "owner", promises, true},
	{"DEPENDS_ON_CHANGED", "field", promises, true},
	{"UNIT_CHANGED", "field", promises, false},
	{"HOME_MOVED", "owner", code, false},
	{"PACKAGE_RENAMED", "state", code, false},
	{"GO_NAME_CHANGED", "field", code, false},
	{"LEGACY_CHANGED", "field", oldFiles, false},
	{"ENUM_VALUE_ADDED", "field", notices, false},
	{"WAIT_LOWERED", "owner", notices, false},
	{"DURABILITY_RAISED", "owner", notices, false},
	{stale, "state", "exceptions", false},
}

// stale is the rule of an exception without a finding. No exception allows that.
const stale = "ALLOW_STALE"

// Rules lists every rule, by groups.
func Rules() []Rule { return slices.Clone(rules) }

// named returns the rule with the id. The caller knows the id.
func named(id string) Rule {
	return rules[slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })]
}
