package history

import (
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience bounds how long a history is looked at. Its size is such that a
// second is much.
const patience = time.Minute

// Check says whether records are a history that one process could have made,
// one operation after another. [porcupine.Unknown] means that it took too long
// to say.
func Check(records []Record) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model, Operations(records), patience)
}

// Backward returns where a client's views, atomic or not, went back: nothing in
// them that only grows has become less, and no claim is gone or another's.
func Backward(records []Record) (steps []string) {
	last := map[int]State{}
	for _, r := range records {
		if r.Input.Verb != View || r.Output.End != Same {
			continue
		}
		was, is := last[r.Client], r.Output.Seen
		last[r.Client] = is
		back := is.Revision < was.Revision || is.Count < was.Count || is.Peak < was.Peak
		for field, by := range was.Claims {
			back = back || by != 0 && by != is.Claims[field]
		}
		if back {
			steps = append(steps, fmt.Sprintf("client %d: a view shows %+v after %+v", r.Client, is, was))
		}
	}
	return steps
}

// Draw writes a page that shows how far records can be explained into a new
// file, which nobody removes, and returns its path.
func Draw(records []Record) (path string, err error) {
	_, info := porcupine.CheckOperationsVerbose(model, Operations(records), patience)
	file, err := os.CreateTemp("", "freehold-history-*.html")
	if err != nil {
		return "", err
	}
	defer file.Close()
	return file.Name(), porcupine.Visualize(model, info, file)
}

// Troubles returns the failures that no order of the operations explains.
func Troubles(records []Record) (troubles []string) {
	for _, r := range records {
		if r.Output.Trouble != "" {
			troubles = append(troubles, fmt.Sprintf("client %d: %s", r.Client, r.Output.Trouble))
		}
	}
	return troubles
}

// A Tally counts the operations of histories.
type Tally struct {
	Operations int
	// Ends counts by verb and end; the end of a killed operation is empty.
	Ends map[Verb]map[End]int
	// Atomic is how many views were.
	Atomic int
}

// Count adds records to t.
func (t *Tally) Count(records []Record) {
	if t.Ends == nil {
		t.Ends = map[Verb]map[End]int{}
	}
	t.Operations += len(records)
	for _, r := range records {
		if t.Ends[r.Input.Verb] == nil {
			t.Ends[r.Input.Verb] = map[End]int{}
		}
		t.Ends[r.Input.Verb][r.Output.End]++
		if r.Output.Atomic {
			t.Atomic++
		}
	}
}

// Views is how many views there were.
func (t *Tally) Views() int { return t.Ends[View][Same] }

// Open is how many operations were open when their process was killed.
func (t *Tally) Open() (n int) {
	for _, ends := range t.Ends {
		n += ends[""]
	}
	return n
}
