package reader

import (
	"testing"

	"github.com/freehold-dev/freehold/reader/internal/notice"
)

// A pending patch changes no sidecar: its own directory gives the notice.
func TestWatchIsToldOfWhatIsSetPending(t *testing.T) {
	s := newSpooling(t)
	r := s.reader()
	told, err := notice.New()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	for _, folder := range r.folders() {
		if err := told.Watch(folder); err != nil {
			t.Fatal(err)
		}
	}
	views := 0
	for v, err := range r.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch views++; views {
		case 1:
			s.hold(func() {
				s.busy(add("n", "2"))
				<-told.Rings()
			})
		case 2:
			if o, _ := v.Owner("tool"); o.Pending != 1 || raw(v, "n") != "2" {
				t.Errorf("%d pending patches, n is %s", o.Pending, raw(v, "n"))
			}
			s.commit(s.worker, add("n", "1")) // and takes the patch in
		default:
			if o, _ := v.Owner("tool"); o.Pending != 0 || raw(v, "n") != "3" {
				t.Errorf("%d pending patches, n is %s", o.Pending, raw(v, "n"))
			}
			return
		}
	}
}
