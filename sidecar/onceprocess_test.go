package sidecar

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/statedir"
)

func init() { roles["claimant"] = roleClaimant }

// fieldsPerState is how many rounds are fought in one state, a field each.
const fieldsPerState = 250

func manyLatches() *schema.Declaration {
	o := schema.Owner{Fields: map[string]schema.Field{}}
	for i := range fieldsPerState {
		o.Fields[roundField(i)] = schema.Field{Type: schema.TypeTime, Kind: schema.Once}
	}
	return &schema.Declaration{State: "session", Owners: map[string]schema.Owner{"hook": o}}
}

func roundField(round int) string { return fmt.Sprintf("round_%d", round%fieldsPerState) }

// roleClaimant does what it is told, line by line: "DIR FIELD" means to claim
// the field in that state, and to say "won ID", "lost ID" or "error WHAT".
func roleClaimant(args []string) error {
	if os.Getenv("FREEHOLD_TEST_TOOTHLESS") != "" {
		claimsOf = func(c *statedir.Claim) claimFile { return toothless{c, args[0]} }
	}
	var w *Writer
	dir := ""
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		at, field, _ := strings.Cut(s.Text(), " ")
		if at != dir {
			if w != nil {
				w.Close()
			}
			var err error
			if w, err = Open(context.Background(), at, nil, "hook", nil); err != nil {
				return err
			}
			dir = at
		}
		switch won, by, err := w.Claim(context.Background(), field); {
		case err != nil:
			fmt.Println("error", err)
		case won:
			fmt.Println("won", by.ID)
		default:
			fmt.Println("lost", by.ID)
		}
	}
	return nil
}

// A claimantProcess is one of those that claim, round after round.
type claimantProcess struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startClaimant(t *testing.T, env ...string) *claimantProcess {
	t.Helper()
	cmd := exec.Command(os.Args[0], t.TempDir())
	cmd.Env = append(append(os.Environ(), roleVar+"=claimant"), env...)
	cmd.Stderr = os.Stderr
	c := &claimantProcess{cmd: cmd}
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// answer returns what the process says, or "" if it was killed before.
func (c *claimantProcess) answer() string {
	if c.lines.Scan() {
		return c.lines.Text()
	}
	return ""
}

func (c *claimantProcess) end() {
	c.cmd.Process.Kill()
	c.in.Close()
	c.cmd.Wait()
}

// A contest is many processes that claim one field after another.
type contest struct {
	*testing.T
	env       []string
	random    *rand.Rand
	claimants [16]*claimantProcess
	killed    int
	dir       string
}

func newContest(t *testing.T, env ...string) *contest {
	t.Helper()
	seed := time.Now().UnixNano()
	if text := os.Getenv("FREEHOLD_SEED"); text != "" {
		fmt.Sscan(text, &seed)
	}
	t.Logf("FREEHOLD_SEED=%d", seed)
	c := &contest{T: t, env: env, random: rand.New(rand.NewPCG(uint64(seed), 0))}
	for i := range c.claimants {
		c.claimants[i] = startClaimant(t, env...)
	}
	t.Cleanup(func() {
		for _, p := range c.claimants {
			p.end()
		}
	})
	return c
}

// round lets all claim a field, kills some of them meanwhile, and returns what
// the others heard.
func (c *contest) round(n int) (answers []string) {
	if n%fieldsPerState == 0 {
		c.dir = fmt.Sprintf("%s/%d", c.TempDir(), n)
		if err := Create(c.dir, manyLatches()); err != nil {
			c.Fatal(err)
		}
	}
	for _, p := range c.claimants {
		fmt.Fprintln(p.in, c.dir, roundField(n)) // an error shows as a missing answer
	}
	if c.random.IntN(2) == 0 {
		time.Sleep(time.Duration(c.random.IntN(3000)) * time.Microsecond)
		for range 1 + c.random.IntN(3) {
			c.claimants[c.random.IntN(len(c.claimants))].cmd.Process.Kill()
			c.killed++
		}
	}
	for i, p := range c.claimants {
		answer := p.answer()
		if answer != "" {
			answers = append(answers, answer)
		}
		if p.cmd.Process.Signal(syscall.Signal(0)) != nil || answer == "" {
			p.end()
			c.claimants[i] = startClaimant(c.T, c.env...)
		}
	}
	return answers
}

// verdict says what is wrong with the answers of a round, or nothing.
func (c *contest) verdict(n int, answers []string) error {
	path := c.dir + "/" + statedir.ClaimFile("hook", roundField(n))
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && len(answers) == 0 {
		return nil // all were killed before
	}
	if err != nil {
		return err
	}
	claim, err := document.DecodeClaim(raw)
	if err != nil {
		return fmt.Errorf("a partial claim: %w", err)
	}
	winners := 0
	for _, answer := range answers {
		word, id, _ := strings.Cut(answer, " ")
		if word == "won" {
			winners++
		}
		if word == "error" || id != claim.Nonce {
			return fmt.Errorf("%q, and the claim that stands is %s", answer, claim.Nonce)
		}
	}
	if winners > 1 || winners == 0 && len(answers) == len(c.claimants) {
		return fmt.Errorf("%d of %d have won", winners, len(answers))
	}
	info, err := os.Stat(path)
	if err == nil && info.Sys().(*syscall.Stat_t).Nlink != 1 {
		err = errors.New("the claim has two names")
	}
	return err
}

// contests is how many rounds are fought.
func contests(t *testing.T) int {
	if text := os.Getenv("FREEHOLD_CLAIM_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return rounds(50, 10000)
}

// TestOneOfManyProcessesWins is the law of a claim (cases 27, 29, 30; FI6): of
// 16 processes, some of them killed at random moments, at most one ever hears
// that it won; all others learn who has; the claim is whole, and stands though
// its winner is dead.
func TestOneOfManyProcessesWins(t *testing.T) {
	c := newContest(t)
	all := contests(t)
	for n := range all {
		if err := c.verdict(n, c.round(n)); err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
	}
	t.Logf("%d rounds, %d kills", all, c.killed)
	for _, name := range namesIn(t, c.dir+"/.freehold/claims/hook") {
		if !strings.HasPrefix(name, "round_") {
			t.Errorf("%s is left", name)
		}
	}
}

// toothless publishes a claim as one would who knows no rename without
// replacing: it looks, writes a file, and renames it.
type toothless struct {
	*statedir.Claim
	scratch string
}

func (c toothless) Publish(raw []byte) (made bool, err error) {
	staged := fmt.Sprintf("%s/%d", c.scratch, os.Getpid())
	if err := os.WriteFile(staged, raw, 0o600); err != nil {
		return false, err
	}
	return true, os.Rename(staged, c.Path())
}

// TestRenameInPlaceOfALinkIsNoticed shows that TestOneOfManyProcessesWins has
// teeth: with a rename that replaces in the place of the link that does not,
// two processes win before long.
func TestRenameInPlaceOfALinkIsNoticed(t *testing.T) {
	c := newContest(t, "FREEHOLD_TEST_TOOTHLESS=1")
	for n := range 10000 {
		if c.verdict(n, c.round(n)) != nil {
			return
		}
	}
	t.Error("nothing was noticed in 10000 rounds")
}
