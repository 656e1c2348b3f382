package history_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/sidecar/history"
	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func TestMain(m *testing.M) {
	history.Main(history.Kinds{
		"sound": openViews,
		"naive": func(dir string) (history.Viewer, error) {
			v, err := openViews(dir)
			return naive{v}, err
		},
	})
	scratch.Main(scratch.Small)
	os.Exit(m.Run())
}

// views takes views with a reader.
type views struct{ *reader.Reader }

func openViews(dir string) (history.Viewer, error) {
	r, err := reader.Open(dir)
	return views{r}, err
}

func (v views) View(ctx context.Context) (history.Output, error) {
	view, err := v.Reader.View(ctx)
	if err != nil {
		return history.Output{}, err
	}
	text, err := view.MarshalJSON()
	if err != nil {
		return history.Output{}, err
	}
	return history.Decode(text)
}

// A naive viewer reads one owner after another, each as it should, and takes
// what it has read for the state.
type naive struct{ history.Viewer }

func (v naive) View(ctx context.Context) (history.Output, error) {
	whole := history.Output{End: history.Same, Parts: history.Everything, Atomic: true}
	for _, part := range []history.Part{history.OfCost, history.OfHook, history.OfTool} {
		one, err := v.Viewer.View(ctx)
		if err != nil {
			return whole, err
		}
		part.Copy(&whole.Seen, one.Seen)
		time.Sleep(time.Millisecond)
	}
	return whole, nil
}
