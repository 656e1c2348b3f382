package sidecar

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
)

// roleUse counts uses of two keys, as the tool, n times, one commit each, and
// puts what it did into a set and a map of its own.
func roleUse(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], usage(), "tool", &Options{Wait: time.Minute})
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := w.Update(context.Background(), func(tx *Tx) error {
			use(tx)
			skillsPart(tx).Key("review").UseCount().Add(2)
			SetOf(tx, "labels", schema.String).Insert(fmt.Sprint(args[2], i))
			seenMap(tx).Key(args[2]).Raise(uint64(i))
			return nil
		}); err != nil {
			return err
		}
	}
	return w.Close()
}

// Processes that count, insert and raise at the same keys lose nothing of each
// other.
func TestProcessesLoseNothingOfAMap(t *testing.T) {
	const processes, commits = 4, 25
	s := newUsage(t)
	s.update("creator", func(tx *Tx) {
		create(tx)
		skillsMap(tx).Insert("review")
	})
	var running []*exec.Cmd
	for i := range processes {
		cmd := roleProcess(t, "use", s.dir, fmt.Sprint(commits), string(rune('a'+i)))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	got := s.stored("tool")
	if want := fmt.Sprintf(`{"deploy":{"use_count":%d},"review":{"use_count":%d}}`, processes*commits, 2*processes*commits); got["skills"] != want {
		t.Errorf("skills are %s, want %s", got["skills"], want)
	}
	if want := fmt.Sprintf(`{"a":%d,"b":%[1]d,"c":%[1]d,"d":%[1]d}`, commits-1); got["seen"] != want {
		t.Errorf("seen is %s, want %s", got["seen"], want)
	}
	s.update("tool", func(tx *Tx) {
		if n := len(SetOf(tx, "labels", schema.String).All()); n != processes*commits {
			t.Errorf("%d labels, want %d", n, processes*commits)
		}
	})
}

// While the creator deletes a key and creates it again, many goroutines count
// its uses. What the last incarnation has is exactly what was counted at it.
func TestUsesAreCountedAtOneIncarnation(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	w := s.open("tool")
	var mu sync.Mutex
	counted := map[Version]uint64{}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				var at Ref
				_, err := w.Update(context.Background(), func(tx *Tx) error {
					at, _ = skillsPart(tx).Ref("deploy")
					use(tx)
					return nil
				})
				if err != nil {
					continue // no such key just then, or created again
				}
				mu.Lock()
				counted[at.Incarnation]++
				mu.Unlock()
			}
		})
	}
	creator := s.open("creator")
	for range 20 {
		for _, fn := range []func(*Tx){func(tx *Tx) { skillsMap(tx).Delete("deploy") }, create} {
			update(t, creator, func(tx *Tx) error { fn(tx); return nil })
		}
	}
	for last := s.born("creator", "deploy"); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		n := counted[last]
		mu.Unlock()
		if n > 3 {
			break
		}
	}
	close(stop)
	wg.Wait()
	last := s.born("creator", "deploy")
	if got := s.born("tool", "deploy"); got != last {
		t.Errorf("attached to %v, want %v", got, last)
	}
	if got, want := s.stored("tool")["skills"], fmt.Sprintf(`{"deploy":{"use_count":%d}}`, counted[last]); got != want {
		t.Errorf("skills are %s, want %s", got, want)
	}
}
