package verbs

import "strings"

// Operands are the words for a command's operands, as its usage line has them:
// "OWNER FIELD=VALUE...". Those in brackets may be left out, and one with "..."
// may be repeated.
type Operands string

// Bounds returns the least and the greatest number of operands; a negative most
// is no bound.
func (o Operands) Bounds() (least, most int) {
	words := strings.Fields(string(o))
	least, most = len(words)-strings.Count(string(o), "["), len(words)
	if strings.HasSuffix(string(o), "...") || strings.HasSuffix(string(o), "...]") {
		most = -1
	}
	return least, most
}

// word returns the name of the operand at place i, or "".
func (o Operands) word(i int) string {
	words := strings.Fields(string(o))
	if _, most := o.Bounds(); most < 0 {
		i = min(i, len(words)-1)
	}
	if i >= len(words) {
		return ""
	}
	return strings.Trim(words[i], "[].")
}
