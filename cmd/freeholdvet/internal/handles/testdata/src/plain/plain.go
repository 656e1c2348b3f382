package plain

import "m/owners"

func Same(a, b owners.Mood) bool { return a == b }
