package declare

import "strings"

// nearest returns the one of the words that word was most likely meant to be,
// or false if none is close.
func nearest(word string, words []string) (string, bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	if len(word) > 64 {
		return "", false
	}
	best, least := "", 1+max(1, len(word)/3)
	for _, w := range words {
		if strings.HasPrefix(word, w) || len(word) > 2 && strings.HasPrefix(w, word) {
			return w, true // boolean, int64, timestamp
		}
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	return best, best != ""
}

// didYouMean ends a message about word: with the nearest of the words, or
// else with all of them, which are what.
func didYouMean(word, what string, words []string) string {
	if w, ok := nearest(word, words); ok {
		return "did you mean " + w + "?"
	}
	if len(words) == 1 {
		return "write " + words[0]
	}
	return what + " " + list(words, "and")
}

// distance counts the letters to insert, drop, replace or swap with their
// neighbour to turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
