package reader

import (
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// An Opening is an event that has begun and is neither done nor abandoned.
// Whether it has had its effect, nobody can say.
type Opening struct {
	// Token ends it.
	Token store.EventToken `json:"token"`
	// Version of the commit that began it.
	Version store.Version `json:"version"`
	// BegunAt is when that commit was made, by its writer's clock.
	BegunAt time.Time `json:"begun_at"`
	// Program that made it.
	Program string `json:"program"`
	// PID of that program's process.
	PID int `json:"pid"`
}

// Open returns what has begun of an event and is not done, in the order in which
// it began. There is none of a field of another kind, nor of an owner whose
// sidecar cannot be used.
func (e Entry) Open() []Opening {
	_, o, err := e.find()
	if err != nil || e.level != ofField {
		return nil
	}
	var open []Opening
	for _, begun := range o.stored.Open(e.name) {
		open = append(open, Opening{
			store.TokenOf(e.view.StateID(), e.name, begun.Token), begun.Version, begun.At, begun.Program, begun.PID,
		})
	}
	return open
}

// Open returns what has begun of an event and is not done; see [Entry.Open].
func (f Field[T]) Open() []Opening { return f.entry.Open() }

// open prints what has begun of an event.
func (w *printer) open(e Entry) {
	open := e.Open()
	if open == nil {
		return
	}
	w.array("open", func() {
		for _, o := range open {
			w.object(func() {
				w.text("token", o.Token.String())
				w.version(o.Version)
				at, err := schema.Time.Append(nil, o.BegunAt)
				if err != nil {
					w.err = err
				}
				w.value("begun_at", at)
				w.text("program", o.Program)
				w.number("pid", uint64(o.PID))
			})
		}
	})
}
