package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

func init() { roles["count"] = roleCount }

// roleCount adds 1 to tool's n again and again, and says "b" before and "a"
// after each, until it is killed or its standard input ends.
func roleCount(args []string) error {
	wait, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], setters(), "tool", &Options{Wait: wait})
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		os.Stdin.Read(make([]byte, 1))
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return w.Close()
		default:
		}
		os.Stdout.Write([]byte("b"))
		if _, err := w.Update(context.Background(), ops(op("n", schema.VerbAdd, "1"))); err != nil {
			return err
		}
		os.Stdout.Write([]byte("a"))
	}
}

// A counting is what the processes of a torture have said.
type counting struct {
	begun, acknowledged, kills atomic.Int64
}

// number returns an environment variable, or otherwise.
func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// run runs one process after another in one place until all that is wanted is
// acknowledged, and kills as many as are wanted, each after a random part of
// its share.
func (c *counting) run(t *testing.T, rng *rand.Rand, dir string, wanted, kills int64) {
	for c.acknowledged.Load() < wanted {
		cmd := exec.CommandContext(t.Context(), os.Args[0], dir, "1ms")
		cmd.Env = append(os.Environ(), roleVar+"=count")
		cmd.Stderr = os.Stderr
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil || err1 != nil || err2 != nil {
			t.Error(err, err1, err2)
			return
		}
		life := int64(-1)
		if kills > 0 {
			life = 1 + rng.Int64N(max(3*wanted/(kills+16)/2, 1)) // so short that all kills come about
		}
		killed := false
		said := make([]byte, 1)
		for n := int64(0); ; {
			if _, err := io.ReadFull(out, said); err != nil {
				break
			}
			if said[0] == 'b' {
				c.begun.Add(1)
				if life >= 0 && n >= life && c.kills.Load() < kills && !killed {
					// In the middle of what it has just begun.
					time.Sleep(time.Duration(rng.Int64N(int64(2 * time.Millisecond))))
					cmd.Process.Kill()
					killed = true
					c.kills.Add(1)
				}
				continue
			}
			n++
			if c.acknowledged.Add(1) >= wanted {
				in.Close()
			}
		}
		in.Close()
		if err := cmd.Wait(); err != nil && !killed {
			t.Error(err)
			return
		}
	}
}

// Sixteen processes count, and are killed at random moments. What was
// acknowledged is there, and nothing twice: what is there beyond that was begun
// by somebody who was killed.
//
// FREEHOLD_INCREMENTS and FREEHOLD_KILLS set how much. The seed is printed, and
// FREEHOLD_SEED takes it back.
func TestIncrementsSurviveRandomKills(t *testing.T) {
	wanted, kills := number(t, "FREEHOLD_INCREMENTS", 600), number(t, "FREEHOLD_KILLS", 12)
	seed := uint64(number(t, "FREEHOLD_SEED", time.Now().UnixNano()))
	t.Logf("FREEHOLD_SEED=%d", seed)
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, setters()); err != nil {
		t.Fatal(err)
	}
	var c counting
	var wg sync.WaitGroup
	start := time.Now()
	for i := range uint64(16) {
		wg.Go(func() { c.run(t, rand.New(rand.NewPCG(seed, i)), dir, wanted, kills) })
	}
	wg.Wait()
	took := time.Since(start)
	w := openSetter(t, dir, "tool", &Options{Wait: time.Minute})
	for update(t, w, ops()).Folded > 0 {
	}
	got, err := strconv.ParseInt(values(t, w, "n")["n"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged, begun := c.acknowledged.Load(), c.begun.Load()
	t.Logf("%d acknowledged, %d begun, %d killed: %d; %.0f a second", acknowledged, begun, c.kills.Load(), got, float64(got)/took.Seconds())
	if got < acknowledged || got > begun {
		t.Errorf("n is %d: of %d acknowledged and %d begun, some are lost or doubled", got, acknowledged, begun)
	}
	if c.kills.Load() < kills*3/4 {
		t.Errorf("only %d were killed", c.kills.Load())
	}
	if names := pendingNames(t, w); len(names) > 0 {
		t.Errorf("%d patches are still deferred", len(names))
	}
}

// A pile of patches goes down once nobody is in its way, however many go on
// deferring. With one hand that unlinks, each link of theirs came before the
// next unlink, and the pile grew to the most that is allowed, where they fail.
// FREEHOLD_PILE sets how many patches there are to begin with.
func TestPileGoesDownWhileOthersGoOn(t *testing.T) {
	pile := int(number(t, "FREEHOLD_PILE", 300))
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, setters()); err != nil {
		t.Fatal(err)
	}
	w := openSetter(t, dir, "tool", &Options{Wait: time.Minute})
	if err := w.lock.Acquire(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	var inputs []io.Closer
	var all []*exec.Cmd
	failed := make(chan error, 16)
	for range cap(failed) {
		cmd := roleProcess(t, "count", dir, "1ms")
		in, err := cmd.StdinPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		inputs, all = append(inputs, in), append(all, cmd)
	}
	for _, cmd := range all {
		go func() { failed <- cmd.Wait() }()
	}
	left := func(enough func(n int) bool) {
		for n := -1; !enough(n); time.Sleep(10 * time.Millisecond) {
			select {
			case err := <-failed:
				t.Fatalf("a writer ended, with %d pending patches: %v", n, err)
			default:
				n = len(pendingNames(t, w))
			}
		}
	}
	left(func(n int) bool { return n >= pile })
	w.lock.Release()
	start := time.Now()
	left(func(n int) bool { return n >= 0 && n < 100 })
	t.Logf("%d patches went down to less than 100 in %v", pile, time.Since(start))
	for _, in := range inputs {
		in.Close()
	}
	for range all {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// enough is how many commits of each writer it takes, on average, to tell a slow
// one from one that had no luck.
const enough = 60

// longEnough is for how long at most they are given longer.
const longEnough = 3 * time.Minute

func sum(counts []int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}

// Many writers of one owner all get on: the slowest at least a third as far as
// the fastest. FREEHOLD_WRITERS and FREEHOLD_SECONDS set how many, and for how
// long at least. Who has had bad luck so far, or a slow disk, is given longer;
// who is kept from the lock stays behind however long that is.
func TestManyWritersAllGetOn(t *testing.T) {
	writers, seconds := number(t, "FREEHOLD_WRITERS", 8), number(t, "FREEHOLD_SECONDS", 1)
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, setters()); err != nil {
		t.Fatal(err)
	}
	counts := make([]atomic.Int64, writers)
	var inputs []io.Closer
	var all []*exec.Cmd
	var wg sync.WaitGroup
	for i := range counts {
		cmd := roleProcess(t, "count", dir, "1m")
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil || err1 != nil || err2 != nil {
			t.Fatal(err, err1, err2)
		}
		inputs, all = append(inputs, in), append(all, cmd)
		wg.Go(func() {
			for said := make([]byte, 1); ; {
				if _, err := io.ReadFull(out, said); err != nil {
					return
				}
				if said[0] == 'a' {
					counts[i].Add(1)
				}
			}
		})
	}
	progress := func() (each []int64) {
		for i := range counts {
			each = append(each, counts[i].Load())
		}
		return each
	}
	for slices.Min(progress()) == 0 { // all have begun
		time.Sleep(time.Millisecond)
	}
	before := progress()
	sofar := func() (each []int64) {
		each = progress()
		for i := range each {
			each[i] -= before[i]
		}
		slices.Sort(each)
		return each
	}
	fair := func(each []int64) bool { return each[0]*3 >= each[len(each)-1] }
	start, each := time.Now(), sofar()
	for time.Since(start) < time.Duration(seconds)*time.Second ||
		seconds >= 10 && time.Since(start) < longEnough && (sum(each) < enough*writers || !fair(each)) {
		time.Sleep(50 * time.Millisecond)
		each = sofar()
	}
	for i := range all {
		inputs[i].Close()
	}
	wg.Wait()
	for i := range all {
		if err := all[i].Wait(); err != nil {
			t.Error(err)
		}
	}
	least, most := each[0], each[len(each)-1]
	t.Logf("%d writers: the slowest %d, the fastest %d commits", writers, least, most)
	// Of a few commits, as in a second on a busy machine, only that all get on is
	// certain.
	if !fair(each) && seconds >= 10 && (sum(each) >= enough*writers || least == 0) {
		t.Errorf("the slowest made %d commits, the fastest %d: want at least a third", least, most)
	}
	w := openSetter(t, dir, "tool", &Options{Wait: time.Minute})
	raw := values(t, w, "n")["n"]
	total := sum(progress())
	if got, err := schema.Uint.Decode([]byte(raw)); err != nil || int64(got) != total {
		t.Errorf("n is %s (%v), want %s", raw, err, fmt.Sprint(total))
	}
}
