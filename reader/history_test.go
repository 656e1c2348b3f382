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
	history.Main(history.Kinds{
		"slow": slowly,
		"slow and sure of itself": func(dir string) (history.Viewer, error) {
			rechecked = false
			return slowly(dir)
		},
	})
	scratch.Main(scratch.Small)
	os.Exit(m.Run())
}

// viewer takes views with a Reader.
type viewer struct{ *Reader }

// slowly opens a viewer that now and then takes so long between reading what is
// deferred and the sidecar that two commits fit in.
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

// What readers see of a busy state that defers fits what its
// writers did, as long as they look again; see package history.
func TestHistoriesNeedTheSecondLook(t *testing.T) {
	for kind, tc := range map[string]struct {
		histories int
		want      porcupine.CheckResult
	}{
		"slow":                    {2, porcupine.Ok},
		"slow and sure of itself": {100, porcupine.Illegal},
	} {
		t.Run(kind, func(t *testing.T) {
			players := history.NewPlayers()
			defer players.Close()
			seed := uint64(time.Now().UnixNano())
			result, played := porcupine.Unknown, 0
			for ; played < tc.histories && (played == 0 || result == porcupine.Ok); played++ {
				g := history.Game{Kind: kind, Seed: seed + uint64(played), Writers: 3, Readers: 2, Each: 100, Durability: schema.Process}
				records, err := players.Play(filepath.Join(t.TempDir(), fmt.Sprint(played)), g)
				if err != nil {
					t.Fatal(err)
				}
				result = history.Check(records)
			}
			t.Logf("%d histories, the last one %s", played, result)
			if result != tc.want {
				t.Errorf("from seed %d on, histories are %s, want %s", seed, result, tc.want)
			}
		})
	}
}
