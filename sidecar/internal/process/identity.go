// Package process tells which process is which: it names processes, judges
// whether a recorded one lives, and signals exactly the one that was named. There
// is no promise where the kernel tells nothing, as outside Linux: processes there
// are named, and never judged.
package process

import (
	"crypto/rand"
	"encoding/base32"
	"sync"
)

// An Identity tells one process from its successor. A process id and a start
// time alone do not: numbers are used again, and within one clock tick both
// can repeat.
type Identity struct {
	// Boot is the kernel's random id of this boot.
	Boot string `json:"boot,omitempty"`
	// PIDNamespace is the inode of the PID namespace in which PID counts.
	PIDNamespace uint64 `json:"pid_ns,omitzero"`
	// PID is the process id.
	PID int `json:"pid"`
	// Start is the process's start time in clock ticks since boot.
	Start uint64 `json:"start,omitzero"`
	// Nonce is drawn at random once in a process's life.
	Nonce string `json:"nonce"`
	// PIDFD is the inode of the process's pidfd, unique until the next boot
	// where the kernel has such inodes (Linux 6.9), else 0.
	PIDFD uint64 `json:"pidfd,omitzero"`
}

// Self returns the identity of the calling process, and is safe for concurrent
// use.
func Self() Identity { return self() }

var self = sync.OnceValue(func() Identity {
	id := platformIdentity()
	id.Nonce = NewNonce() + NewNonce()
	return id
})

var nonceText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// NewNonce returns 64 random bits as 13 characters of lower-case base32hex.
func NewNonce() string {
	var b [8]byte
	rand.Read(b[:]) // never fails: crypto/rand.Read
	return nonceText.EncodeToString(b[:])
}
