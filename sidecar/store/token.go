package store

import "github.com/freehold-dev/freehold/sidecar/internal/apply"

// A Seen is a token of the versions of some fields that a reader has seen.
type Seen = apply.Seen

// SeenOf returns the token of versions, by field, in the state with the id
// stateID. It is for package reader.
func SeenOf(stateID string, versions map[string]Version) Seen { return apply.SeenOf(stateID, versions) }

// An EventToken names one beginning of an event.
type EventToken = apply.EventToken

// TokenOf returns the token nonce of the event field in the state with the id
// stateID. It is for package reader.
func TokenOf(stateID, field, nonce string) EventToken { return apply.TokenOf(stateID, field, nonce) }

// A Ref names one incarnation of a key of a map: a key that is deleted and
// created again has another one.
type Ref struct {
	Key         string  `json:"key"`
	Incarnation Version `json:"incarnation"`
}
