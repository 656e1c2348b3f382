package owners

// Name is like an enum, and nobody generated it.
type Name struct{ s string }
