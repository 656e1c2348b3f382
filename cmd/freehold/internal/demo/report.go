package demo

// A Report is what the demo has found.
type Report struct {
	// Dir is the directory that everything was made in and that is kept.
	Dir string `json:"dir"`
	// OldWay and Freehold are the same calls of the same hooks.
	OldWay   OldTally `json:"old_way"`
	Freehold Tally    `json:"freehold"`
	// Latch is what copies of one hook did that started at once, and Count
	// what was left of what many processes counted.
	Latch Latch `json:"latch"`
	Count Count `json:"count"`
	// Refusals are the trespassers' programs.
	Refusals []Refusal `json:"refusals"`
	// Next is a shell command to try next.
	Next string `json:"next"`
}

// A Tally is what became of the updates of one way.
type Tally struct {
	// Updates is how many calls ended without a complaint; Lost, of how many
	// of them nothing is left.
	Updates int `json:"updates"`
	Lost    int `json:"lost"`
	// Hooks has the same by program.
	Hooks []HookTally `json:"hooks"`
	// TotalUSD is the money on record, and SpentUSD is what the rows of the
	// cost log sum up to.
	TotalUSD string `json:"total_usd"`
	SpentUSD string `json:"spent_usd"`
	// Rows is how many rows the log has.
	Rows int `json:"rows"`
	// Views is how many different views were checked meanwhile.
	Views int `json:"views,omitzero"`
	// Again is how many calls were told that the owner was busy, said so, and
	// were made again.
	Again int `json:"again,omitzero"`
	// Broken says what else is not as it must be.
	Broken []string `json:"broken,omitempty"`
}

// An OldTally is a Tally of the old way.
type OldTally struct {
	Tally
	// Rounds is how many rounds it took to lose something; the figures are
	// those of the last.
	Rounds int `json:"rounds"`
	// Waves is how many waves of calls a round has, and StampsLost after how
	// many of them the newest reset stamp was gone.
	Waves      int `json:"waves"`
	StampsLost int `json:"stamps_lost"`
}

// A HookTally is the part of a Tally that is one program's.
type HookTally struct {
	Program string `json:"program"`
	Updates int    `json:"updates"`
	Lost    int    `json:"lost"`
}

// A Latch is what became of copies of one hook, one of which must look things
// up.
type Latch struct {
	Copies int `json:"copies"`
	// OldWay and Freehold are how many of them did.
	OldWay   int `json:"old_way"`
	Freehold int `json:"freehold"`
	// Winner is the process that did with Freehold, and Claimant the one that
	// the state names.
	Winner   int `json:"winner"`
	Claimant int `json:"claimant"`
}

// A Count is what became of the increments of one counter.
type Count struct {
	// Processes counted at once, Each as often.
	Processes int        `json:"processes"`
	Each      int        `json:"each"`
	OldWay    CountTally `json:"old_way"`
	Freehold  CountTally `json:"freehold"`
}

// A CountTally compares what the processes said that they had counted with what
// the counter says.
type CountTally struct {
	Acknowledged int `json:"acknowledged"`
	Counted      int `json:"counted"`
	Lost         int `json:"lost"`
}

// A Refusal is a program that must not compile, and does not.
type Refusal struct {
	// Line is the line of Go that trespasses.
	Line string `json:"line"`
	// Command compiles it, from the module root.
	Command string `json:"command"`
	// Output is what the toolchain said.
	Output string `json:"output"`
}

// add counts updates of program and how many of them are lost.
func (t *Tally) add(program string, updates, lost int) {
	t.Hooks = append(t.Hooks, HookTally{program, updates, lost})
	t.Updates += updates
	t.Lost += lost
}
