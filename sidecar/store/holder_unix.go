//go:build unix && !linux

package store

import "github.com/freehold-dev/freehold/schema"

// Holder returns 0: the kernel does not tell.
func (l *Lock) Holder() int { return 0 }

// Keeper returns 0 likewise.
func (l *Lock) Keeper() int { return 0 }

// Heir returns 0 likewise.
func (l *Lock) Heir() int { return 0 }

// Holder returns none: the kernel does not tell.
func (d *Store) Holder(*schema.Manifest, string) (Holder, error) { return Holder{}, nil }

func (d *Store) lostHolder(m *schema.Manifest, name string) int { return 0 }
