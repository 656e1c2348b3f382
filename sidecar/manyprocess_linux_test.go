package sidecar

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/google/go-cmp/cmp"
)

func init() {
	roles["storm"] = roleStorm
	roles["settle"] = roleSettle
	roles["keys"] = roleKeys
	roles["old way"] = roleOldWay
}

// crowd declares what many processes do at once: three owners of a map each,
// one that defers, and one that claims.
func crowd() *schema.Declaration {
	text := map[string]schema.Field{"text": {Type: schema.TypeString}}
	d := &schema.Declaration{State: "crowd", Owners: map[string]schema.Owner{
		"tool": {Busy: schema.Busy{Then: schema.Defer}, Fields: map[string]schema.Field{"n": {Type: schema.TypeUint, Kind: schema.Counter}}},
		"hook": {Fields: map[string]schema.Field{"fired": {Type: schema.TypeTime, Kind: schema.Once}, "id": {Type: schema.TypeString}}},
	}}
	for i := range 3 {
		d.Owners[fmt.Sprintf("owner_%d", i)] = schema.Owner{Fields: map[string]schema.Field{fmt.Sprintf("map_%d", i): {Kind: schema.Map, Record: text}}}
	}
	return d
}

// barrier waits until standard input ends.
func barrier() {
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
}

// roleStorm is what one hook of many does: it opens, commits once and claims. It
// prints whether it was served, whether it has won, who has, and how long that
// folded milliseconds.
func roleStorm(args []string) error {
	barrier()
	start := time.Now()
	tool, err := Open(context.Background(), args[0], crowd(), "tool", nil)
	if err != nil {
		return err
	}
	defer tool.Close()
	c, err := tool.Update(context.Background(), ops(op("n", schema.VerbAdd, "1")))
	if err != nil {
		return err
	}
	hook, err := Open(context.Background(), args[0], crowd(), "hook", nil)
	if err != nil {
		return err
	}
	defer hook.Close()
	won, by, err := hook.Claim(context.Background(), "fired")
	fmt.Println(c.Outcome == Applied || c.Outcome == Deferred, won, by.ID, time.Since(start).Milliseconds())
	return err
}

// An entrant is one of many processes that were let go at once.
type entrant struct {
	*exec.Cmd
	text bytes.Buffer
	read chan struct{} // closed when text is whole
}

// said waits until the process has ended and returns what it said.
func (e *entrant) said() (string, error) {
	<-e.read
	return e.text.String(), e.Wait()
}

// atOnce starts processes of a role and lets them all go at the same moment.
func atOnce(t *testing.T, n int, role string, args func(i int) []string) (all []*entrant) {
	t.Helper()
	var gates []io.Closer
	for i := range n {
		e := &entrant{Cmd: roleProcess(t, role, args(i)...), read: make(chan struct{})}
		in, err := e.StdinPipe()
		out, read := e.StdoutPipe()
		if err != nil || read != nil {
			t.Fatal(err, read)
		}
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		ready := make([]byte, len("ready\n"))
		if _, err := io.ReadFull(out, ready); err != nil || string(ready) != "ready\n" {
			t.Fatalf("%q (%v)", ready, err)
		}
		gates, all = append(gates, in), append(all, e)
		go func() {
			e.text.ReadFrom(out)
			close(e.read)
		}()
	}
	for _, in := range gates {
		in.Close()
	}
	return all
}

// FI6: a storm of processes that open one owner, commit once and claim. Each is
// served, in time, none lost, one has the claim. FREEHOLD_STORM sets how many.
func TestStartStormLosesNothing(t *testing.T) {
	n := int(number(t, "FREEHOLD_STORM", 50))
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, crowd()); err != nil {
		t.Fatal(err)
	}
	winners, claims, took := 0, map[string]bool{}, []int{}
	for _, e := range atOnce(t, n, "storm", func(int) []string { return []string{dir} }) {
		text, err := e.said()
		fields := strings.Fields(text)
		if err != nil || len(fields) != 4 || fields[0] != "true" {
			t.Fatalf("one said %q (%v)", text, err)
		}
		took = append(took, mustAtoi(t, fields[3]))
		if fields[1] == "true" {
			winners++
		}
		claims[fields[2]] = true
	}
	if winners != 1 || len(claims) != 1 {
		t.Errorf("%d have won, and the claims are %v", winners, claims)
	}
	slices.Sort(took)
	t.Logf("of %d, the median took %d ms, one in a hundred more than %d ms, the slowest %d ms", n, took[n/2], took[n*99/100], took[n-1])
	// All that they wait for is a quarter of a second; the rest is a machine on
	// which hundreds want to compute.
	if most := time.Minute.Milliseconds(); int64(took[n-1]) > most {
		t.Errorf("the slowest took %d ms, more than %d", took[n-1], most)
	}
	w, err := Open(t.Context(), dir, nil, "tool", &Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if diff := cmp.Diff(map[string]string{"n": fmt.Sprint(n)}, values(t, w, "n")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// roleSettle makes the state if there is none, gives hook's id a value if it has
// none, and prints the one that it has.
func roleSettle(args []string) error {
	barrier()
	w, err := Open(context.Background(), args[0], crowd(), "hook", &Options{Create: true, Wait: time.Minute})
	if err != nil {
		return err
	}
	defer w.Close()
	id := ""
	_, err = w.Update(context.Background(), func(tx *Tx) error {
		field, ok := ValueOf(tx, "id", schema.String), false
		if id, ok = field.Get(); !ok {
			id = args[1]
			field.Set(id)
		}
		return nil
	})
	if err == nil {
		fmt.Println(id, w.manifest.StateID)
	}
	return err
}

// Case 141: of processes that start for the first time at once, and are killed
// at random moments, all that live go by one and the same first value, in one
// and the same state. The seed is printed, and FREEHOLD_SEED takes it back.
func TestFirstStartHappensOnce(t *testing.T) {
	seed := uint64(number(t, "FREEHOLD_SEED", time.Now().UnixNano()))
	t.Logf("FREEHOLD_SEED=%d", seed)
	rng, kills := rand.New(rand.NewPCG(seed, 0)), 0
	for round := range rounds(3, 40) {
		dir := filepath.Join(t.TempDir(), "state")
		said := map[string]int{}
		for range 2 {
			all := atOnce(t, 15, "settle", func(i int) []string { return []string{dir, fmt.Sprintf("id-%d-%d", round, i)} })
			killed := map[*entrant]bool{}
			for _, e := range all {
				if killed[e] = rng.IntN(3) == 0; killed[e] {
					time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Millisecond))))
					e.Process.Kill()
				}
			}
			for _, e := range all {
				text, err := e.said()
				if err != nil && !killed[e] {
					t.Error(err)
				}
				if err != nil {
					kills++
				}
				if text != "" {
					said[text]++
				}
			}
		}
		if len(said) != 1 {
			t.Errorf("round %d: they say %v", round, said)
		}
	}
	t.Logf("%d were killed before they were done", kills)
}

// roleKeys sets 50 keys of a map that nobody else sets, one commit each.
func roleKeys(args []string) error {
	w, err := Open(context.Background(), args[0], crowd(), "owner_"+args[1], &Options{Wait: time.Minute})
	if err != nil {
		return err
	}
	defer w.Close()
	for i := range 50 {
		text := strings.Repeat("x", 4+i/49*4092) // the last one is long
		key := fmt.Sprintf("%s-%d", args[2], i)
		if _, err := w.Update(context.Background(), ops(Op{Field: "map_" + args[1], Verb: schema.VerbSet, Key: key, Member: "text", Value: strconv.AppendQuote(nil, text)})); err != nil {
			return err
		}
	}
	return nil
}

// Case 142: 12 processes set 50 keys each, in a map of one owner or in one of
// three, some of them with one thread only. All keys are there.
func TestManyProcessesLoseNoKey(t *testing.T) {
	for _, owners := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d owners", owners), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := Create(dir, crowd()); err != nil {
				t.Fatal(err)
			}
			const processes = 12
			var all []*exec.Cmd
			for i := range processes {
				cmd := roleProcess(t, "keys", dir, fmt.Sprint(i%owners), fmt.Sprint(i))
				if i%2 == 0 {
					cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				all = append(all, cmd)
			}
			for _, cmd := range all {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			}
			keys := 0
			for i := range owners {
				doc, err := document.Decode([]byte(readFile(t, sidecarPath(dir, fmt.Sprintf("owner_%d", i)))))
				if err != nil {
					t.Fatal(err)
				}
				rows, err := doc.Rows(fmt.Sprintf("map_%d", i))
				if err != nil {
					t.Fatal(err)
				}
				keys += len(rows)
			}
			if keys != processes*50 {
				t.Errorf("%d keys, want %d", keys, processes*50)
			}
		})
	}
}

// roleOldWay counts as programs did before: it reads a file, adds one and
// renames another one onto it.
func roleOldWay(args []string) error {
	barrier()
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for range n {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		var usage struct{ N int }
		if err := json.Unmarshal(text, &usage); err != nil {
			return err
		}
		usage.N++
		if text, err = json.Marshal(usage); err != nil {
			return err
		}
		temp := fmt.Sprintf("%s.%d", args[0], os.Getpid())
		if err := os.WriteFile(temp, text, 0o600); err != nil {
			return err
		}
		if err := os.Rename(temp, args[0]); err != nil {
			return err
		}
	}
	return nil
}

// Case 122: what eight processes count the old way is not all there at the end;
// here it is, and whoever reads meanwhile never sees less than before.
func TestCountsThatTheOldWayLosesAreExact(t *testing.T) {
	const processes, each = 8, 25
	old := filepath.Join(t.TempDir(), "usage.json")
	lost := 0
	for range 100 { // a machine may be so slow that they come one after the other
		if err := os.WriteFile(old, []byte(`{"N":0}`), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, e := range atOnce(t, processes, "old way", func(int) []string { return []string{old, fmt.Sprint(10 * each)} }) {
			if text, err := e.said(); err != nil {
				t.Fatal(text, err)
			}
		}
		var usage struct{ N int }
		if err := json.Unmarshal([]byte(readFile(t, old)), &usage); err != nil {
			t.Fatal(err)
		}
		if lost = processes*10*each - usage.N; lost > 0 {
			break
		}
	}
	t.Logf("the old way loses %d of %d", lost, processes*10*each)
	if lost == 0 {
		t.Error("the old way loses nothing, so that this test shows nothing")
	}
	dir := newState(t)
	var all []*exec.Cmd
	for range processes {
		cmd := roleProcess(t, "add", dir, fmt.Sprint(each))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for before := 0; ; {
			raw, err := os.ReadFile(sidecarPath(dir, "cost"))
			if err == nil {
				doc, err := document.Decode(raw)
				if err != nil {
					t.Error(err)
					return
				}
				now, err := strconv.Atoi(string(doc.Value("turns")))
				if err != nil || now < before {
					t.Errorf("turns is %d and was %d (%v)", now, before, err)
				}
				before = now
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	}()
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	close(ended)
	<-watched
	if got := stored(t, dir, "turns"); got != fmt.Sprint(processes*each) {
		t.Errorf("turns is %s, want %d", got, processes*each)
	}
}
