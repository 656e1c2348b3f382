package repair

import (
	"fmt"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Restore makes the lost or torn manifest of the state in dir anew, from the
// declaration d and the sidecars that are there, which have the id of the state.
// Claims and pending patches that are there count. It cannot vouch for the time
// before: the lock files are marked anew and tell of nothing.
//
// It returns an error that wraps [status.Exists] if the manifest can be read,
// [status.Newer] if a later release wrote it, [status.Busy] if a process uses the
// state, [status.Unsupported] for a state with instances, and [status.Foreign] if a
// sidecar is another owner's or the sidecars are of several states.
func Restore(dir string, d *schema.Declaration) error {
	if err := d.Sound(); err != nil {
		return err
	}
	if d.Instanced() {
		return fmt.Errorf("%s: %w: the manifest of an instance cannot be made anew: restore it from a backup", dir, status.Unsupported)
	}
	return statedir.Restore(dir, d, func(s *statedir.Dir) (id string, err error) {
		for _, owner := range d.OwnerNames() {
			raw, err := s.ReadFile(statedir.Sidecar(owner), nil, document.MaxSize)
			if err != nil {
				continue // missing, or readers name the fault
			}
			doc, err := document.DecodeForeign(raw)
			if err != nil {
				continue
			}
			switch {
			case doc.Owner != owner:
				return "", fmt.Errorf("%s: %w: it is the sidecar of owner %q: move it away first", s.Path()+"/"+statedir.Sidecar(owner), status.Foreign, doc.Owner)
			case id != "" && doc.State != id:
				return "", fmt.Errorf("%s: %w: it is of another state than the sidecars before it: move away those that do not belong here", s.Path()+"/"+statedir.Sidecar(owner), status.Foreign)
			}
			id = doc.State
		}
		return id, nil
	})
}
