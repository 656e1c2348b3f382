package doctor

import (
	"cmp"
	"slices"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// A Finding is a fault of a state.
type Finding struct {
	// Code is the kind of the fault, such as "sidecar-foreign". It keeps its
	// meaning from release to release.
	Code string `json:"code"`
	// Path of the file or directory, absolute.
	Path string `json:"path"`
	// Instance, Owner and Field that the fault is about; or empty.
	Instance string `json:"instance,omitempty"`
	Owner    string `json:"owner,omitempty"`
	Field    string `json:"field,omitempty"`
	// Says is the fault in a sentence.
	Says string `json:"says"`
	// Remedy is never zero. A verb is to be run on the state or instance of the
	// finding.
	Remedy store.Remedy `json:"-"`
}

// A Note is a fact about a state that is no fault.
type Note struct {
	// About is a stable word for the subject.
	About string `json:"about"`
	// Instance that the note is about; or empty.
	Instance string `json:"instance,omitempty"`
	// Says is the fact.
	Says string `json:"says"`
}

// A Report is the result of [Examine].
type Report struct {
	// Dir is the absolute path of the state, or of the directory that holds its
	// instances.
	Dir string `json:"dir"`
	// State is its name; empty if that cannot be read.
	State string `json:"state,omitempty"`
	// Findings in the order of [Report.Sort].
	Findings []Finding `json:"findings"`
	Notes    []Note    `json:"notes"`
}

// Sort sorts the findings by path, code and field, and leaves each once.
func (r *Report) Sort() {
	order := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Field, b.Field),
			cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Says, b.Says))
	}
	slices.SortStableFunc(r.Findings, order)
	r.Findings = slices.CompactFunc(r.Findings, func(a, b Finding) bool { return order(a, b) == 0 })
}

// byHand returns the remedy that a person carries out.
func byHand(note string) store.Remedy { return store.Remedy{Note: note} }
