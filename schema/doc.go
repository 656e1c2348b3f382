// Package schema says what is owned by whom: the declaration of a state, the
// values its fields may hold, and the manifest that keeps both beside the
// data. It does no I/O and knows nothing of YAML; package
// [github.com/freehold-dev/freehold/schema/declare] reads owners.yaml into the
// types here.
package schema
