package reader

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/history"
	"github.com/freehold-dev/freehold/sidecar/scratch"
	"github.com/freehold-dev/freehold/sidecar/scratch/statedir"
)

func TestMain(m *testing.M) {
	play()
	history.Main(history.Kinds{"slow": slowly})
	scratch.Main(scratch.Small)
	os.Exit(m.Run())
}

// viewer takes views with a Reader.
type viewer struct{ *Reader }

// slowly opens a viewer that now and then pauses between the readings of an owner,
// so that two commits fit in.
func slowly(dir string) (history.Viewer, error) {
	statedir.OnPatchesRead(func() {
		if rand.N(4) == 0 {
			time.Sleep(rand.N(20 * time.Millisecond))
		}
	})
	r, err := Open(dir)
	return viewer{r}, err
}

func (v viewer) View(ctx context.Context) (history.Output, error) {
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

// Views of a busy state that defers fit the commits of its writers; see package
// history.
func TestHistoriesWithAFoldBetweenTheReadings(t *testing.T) {
	players := history.NewPlayers()
	defer players.Close()
	seed := uint64(time.Now().UnixNano())
	for played := range uint64(2) {
		g := history.Game{Kind: "slow", Seed: seed + played, Writers: 3, Readers: 2, Each: 100, Durability: schema.Process}
		records, err := players.Play(filepath.Join(t.TempDir(), fmt.Sprint(played)), g)
		if err != nil {
			t.Fatal(err)
		}
		if result := history.Check(records); result != porcupine.Ok {
			t.Errorf("from seed %d, the history is %s", g.Seed, result)
		}
	}
}
