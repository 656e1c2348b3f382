package demo

// A Report is what the demo has found.
type Report struct {
	// Dir is the directory that everything was made in and that is kept.
	Dir string `json:"dir"`
	// OldWay and Freehold are the same calls of the same hooks.
	OldWay   OldTally `json:"old_way"`
	Freehold Tally    `json:"freehold"`
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
