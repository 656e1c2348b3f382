package upgrade

import (
	"bufio"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/internal/testkit/role"
	"github.com/google/go-cmp/cmp"
)

// Readers see each of many upgrades as one step, beside programs that commit.
func TestReadersSeeBeforeOrAfter(t *testing.T) {
	dir := newState(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen := make(chan [2]int)
	go func() {
		var n [2]int
		r, err := reader.Open(dir)
		if err != nil {
			t.Error(err)
			close(seen)
			return
		}
		defer r.Close()
		for ctx.Err() == nil {
			switch stamp := viewOf(t, r); {
			case cmp.Equal(stamp, newView):
				n[1]++
			case stamp["turns"] == "7" && stamp["stamp"] == oldView["stamp"] && stamp["skills"] == oldView["skills"] && stamp["beats"] == "3":
				n[0]++
			case stamp["turns"] == "" && stamp["target"] == "{}": // went back, and has not committed
			default:
				t.Errorf("neither: %v", stamp)
				stop()
			}
		}
		seen <- n
	}()
	for range 10 {
		upgraded(t, dir, younger())
		upgraded(t, dir, older())
		commit(t, dir, "cost", sidecar.Op{Field: "turns", Verb: schema.VerbAdd, Value: []byte("7")},
			set("target", `{"host":"h","port":80}`))
		if ctx.Err() != nil {
			break
		}
	}
	stop()
	t.Logf("views before and after: %v", <-seen)
}

// A real process of the older build that commits without pause loses nothing
// that was acknowledged, and is refused.
func TestUpgradeBesideACommittingProcess(t *testing.T) {
	dir := newState(t)
	cmd := role.Process(t, "commit", dir)
	var refusal strings.Builder
	cmd.Stderr = &refusal
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 20 {
		if !lines.Scan() {
			t.Fatalf("it ended: %s", refusal.String())
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := Run(context.Background(), dir, younger(), &Options{Wait: time.Minute})
		done <- err
	}()
	commits := 20
	for lines.Scan() {
		commits++
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(refusal.String(), sidecar.ErrDeclaration.Error()) {
		t.Errorf("the older build ended with %v: %s", err, refusal.String())
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, want := viewed(t, dir)["count"], strconv.Quote(strconv.Itoa(7+commits)); got != want {
		t.Errorf("count is %s after %d acknowledged commits, want %s", got, commits, want)
	}
}
