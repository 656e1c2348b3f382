//go:build !unix

package store

import (
	"context"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// A Seizure holds an instance so that no process works in it.
type Seizure struct{}

// OpenInstance returns [ErrUnsupported].
func OpenInstance(dir, id string) (*Store, error) { return nil, ErrUnsupported }

// CreateInstance returns [ErrUnsupported].
func CreateInstance(dir, id string, d *schema.Declaration) error { return ErrUnsupported }

// GatheringIn returns [ErrUnsupported].
func GatheringIn(dir string) (Gathering, error) { return Gathering{}, ErrUnsupported }

// Instances returns [ErrUnsupported].
func Instances(dir string) ([]Instance, error) { return nil, ErrUnsupported }

// Leftovers returns [ErrUnsupported].
func Leftovers(dir string) ([]string, error) { return nil, ErrUnsupported }

// RemoveLeftover returns [ErrUnsupported].
func RemoveLeftover(dir, name string, look bool) (bool, error) { return false, ErrUnsupported }

func (d *Store) Attend(context.Context, time.Duration) error     { return ErrUnsupported }
func (d *Store) Seize() (*Seizure, error)                        { return nil, ErrUnsupported }
func (s *Seizure) Discard() error                                { return ErrUnsupported }
func (s *Seizure) Close() error                                  { return ErrUnsupported }
func (d *Store) Survey(*schema.Manifest) (Survey, error)         { return Survey{}, ErrUnsupported }
func (d *Store) Litter(*schema.Manifest, bool) ([]Litter, error) { return nil, ErrUnsupported }
