package demo

import (
	"fmt"
	"strings"
)

// What the audience reads, in the order in which it is told. Only words are
// made here; every figure comes from the report.

func tellOpening() []line {
	return []line{{heading, "Freehold demo: an agent's programs as everybody writes them, and with Freehold"}}
}

func tellOldWay() []line {
	return []line{{heading, fmt.Sprintf("1  %d hooks at a time, %d in all: one shared file, or a file for each owner",
		len(wave), waves*len(wave))}}
}

func tellLuck(round int) []line {
	text := fmt.Sprintf("  The old way was lucky in round %d.", round)
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
	lines := []line{{bad, fmt.Sprintf("  Old way: %s of %s USD on record; newest reset stamp lost %d times of %d.",
		old.TotalUSD, old.SpentUSD, old.StampsLost, old.Waves)}}
	if t.Lost > 0 || len(t.Broken) > 0 {
		return append(lines, line{bad, fmt.Sprintf("  Freehold LOST %d of %d updates. %s", t.Lost, t.Updates, strings.Join(t.Broken, "; "))})
	}
	text := fmt.Sprintf("  Freehold: %s, the sum of all %d rows; in %d views nothing moved back.",
		t.TotalUSD, t.Rows, t.Views)
	if t.Again > 0 {
		text += fmt.Sprintf(" Busy, and made again: %d.", t.Again)
	}
	return append(lines, line{good, text})
}

func tellLatch() []line {
	return []line{{heading, fmt.Sprintf("2  %d copies of one hook start at once; one of them is to look things up", copies)}}
}

func tellLooks(l *Latch) []line {
	old := line{bad, fmt.Sprintf("  Old way, check a latch, look up (%v), set it: %d of %d looked things up.", lookUp, l.OldWay, l.Copies)}
	if why := l.broken(); why != "" {
		return []line{old, {bad, "  Freehold FAILED: " + why}}
	}
	return []line{old, {good, fmt.Sprintf("  Freehold, with a claim: %d looked up, process %d; the others were told so.", l.Freehold, l.Winner)}}
}

func tellCount() []line {
	return []line{{heading, fmt.Sprintf("3  %d processes count %d uses of a skill each", counters, countEach)}}
}

func tellCounts(c *Count) []line {
	old := line{bad, fmt.Sprintf("  Old way, read, add 1 and rename: %d of %d are LOST.", c.OldWay.Lost, c.OldWay.Acknowledged)}
	if t := c.Freehold; t.Lost != 0 {
		return []line{old, {bad, fmt.Sprintf("  Freehold LOST %d of %d.", t.Lost, t.Acknowledged)}}
	}
	return []line{old, {good, fmt.Sprintf("  Freehold: %d of %d are counted, %d are lost.", c.Freehold.Counted, c.Freehold.Acknowledged, c.Freehold.Lost)}}
}

func tellRefusals() []line {
	return []line{{heading, "4  What compiles in reset's home, writing its field, does not in cost's"}}
}

// tellRefusal leaves out for which package the toolchain says what it says.
func tellRefusal(r *Refusal) []line {
	lines := []line{{plain, "  " + r.Line}}
	for text := range strings.Lines(r.Output) {
		if !strings.HasPrefix(text, "# ") && !strings.HasPrefix(text, "package ") {
			lines = append(lines, line{bad, "  " + strings.TrimSpace(text)})
		}
	}
	return lines
}

func tellView(unset int) []line {
	return []line{{heading, fmt.Sprintf("5  What every reader sees, and who wrote it (%d fields are unset)", unset)}}
}

// tellExplanation tells what `freehold explain` says first: what the value is,
// and who wrote it when.
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
