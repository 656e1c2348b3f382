package demo

import (
	"fmt"
	"strings"
)

// What the audience reads, in the order in which it is told. Only words are
// made here; every figure comes from the report.

func tellOpening() []line {
	return []line{{heading, fmt.Sprintf("Freehold demo: %d calls of an agent's hooks, %d at a time, each a process of its own",
		waves*len(wave), len(wave))}}
}

func tellOldWay() []line {
	return []line{{heading, "1  Old way: every hook rewrites one runtime.json. Freehold: the real hooks, a file for each owner"}}
}

func tellLuck(round int) []line {
	text := fmt.Sprintf("  The old way happened to lose nothing in round %d.", round)
	if round < mostRounds {
		text += " Once more:"
	}
	return []line{{quiet, text}}
}

func lossTable(r *Report) [][]string {
	table := [][]string{{"HOOK", "UPDATES", "LOST THE OLD WAY", "LOST WITH FREEHOLD"}}
	for i, old := range r.OldWay.Hooks {
		table = append(table, lossRow(old.Program, old.Updates, old.Lost, r.Freehold.Hooks[i].Lost))
	}
	return append(table, lossRow("all", r.OldWay.Updates, r.OldWay.Lost, r.Freehold.Lost))
}

func lossRow(name string, updates, old, freehold int) []string {
	return []string{name, fmt.Sprint(updates), fmt.Sprint(old), fmt.Sprint(freehold)}
}

func tellLosses(r *Report) []line {
	old, t := r.OldWay, r.Freehold
	lines := []line{{bad, fmt.Sprintf("  Old way: %s of %s US dollars are on record; %d of %d times the newest reset stamp was gone.",
		old.TotalUSD, old.SpentUSD, old.StampsLost, old.Waves)}}
	if t.Lost > 0 || len(t.Broken) > 0 {
		return append(lines, line{bad, fmt.Sprintf("  Freehold LOST %d of %d updates. %s", t.Lost, t.Updates, strings.Join(t.Broken, "; "))})
	}
	text := fmt.Sprintf("  Freehold: total_usd %s is the exact sum of all %d rows; in %d views nothing moved back.",
		t.TotalUSD, t.Rows, t.Views)
	if t.Again > 0 {
		text += fmt.Sprintf(" Busy, and made again: %d.", t.Again)
	}
	return append(lines, line{good, text})
}

func tellRefusals() []line {
	return []line{{}, {heading, "2  In cost's home, a program that writes cost's fields compiles; one that writes reset's does not"}}
}

func tellRefusal(r *Refusal) []line {
	lines := []line{{plain, "  " + r.Line}}
	for text := range strings.Lines(r.Output) {
		lines = append(lines, line{bad, "  " + strings.TrimSpace(text)})
	}
	return lines
}

func tellView(unset int) []line {
	return []line{{}, {heading, fmt.Sprintf("3  What every reader sees, and who wrote it (%d fields are unset)", unset)}}
}

// tellExplanation tells the sentences of `freehold explain` in one paragraph.
func tellExplanation(text string) []line {
	return []line{
		{quiet, "  $ freehold explain " + fieldReset},
		{plain, "  " + text},
	}
}

func tellNext(r *Report) []line {
	return []line{
		{heading, "Everything is kept. Try next:"},
		{plain, "  " + r.Next},
	}
}
