package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A crowdKind is one way to keep a state into which several processes write at
// once: each counts the commits that it makes for an owner.
type crowdKind struct {
	name  string
	lacks string
	loses bool // counts may be lost, as lacks says
	// create makes the state in dir, in which every owner has counted nothing.
	create func(dir string, owners []string) error
	// open is called once in each process. add reads the owner's count and
	// commits one more.
	open func(dir, owner string) (add, finish func() error, err error)
	// total is the sum of the owners' counts by a fresh look.
	total func(dir string, owners []string) (int64, error)
}

// memberVariable makes a process of this program a member of a crowd; it names
// the kind.
const memberVariable = "FREEHOLD_BENCH_MEMBER"

// A crowd is the contestant that a crowdKind makes. Its operation is a turn of
// all of its processes at once.
type crowd struct {
	crowdKind
	dir     string
	owners  []string // of each process
	each    int      // commits of each process in a turn
	members []*member
	added   int64
	fair    []float64 // of each turn: how fast the slowest was, the fastest being 1
	lost    int64
}

// A member is one process of a crowd.
type member struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
}

func openCrowd(k crowdKind, dir string, owners []string, each int) (*crowd, error) {
	c := &crowd{crowdKind: k, dir: dir, owners: owners, each: each}
	if err := k.create(dir, c.distinct()); err != nil {
		return nil, err
	}
	for _, owner := range owners {
		m, err := newMember(k.name, dir, owner)
		if err != nil {
			return nil, err
		}
		c.members = append(c.members, m)
	}
	return c, nil
}

func (c *crowd) distinct() []string { return slices.Compact(slices.Sorted(slices.Values(c.owners))) }

func newMember(kind, dir, owner string) (*member, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := &member{cmd: exec.Command(self, dir, owner)}
	m.cmd.Env = append(os.Environ(), memberVariable+"="+kind)
	m.cmd.Stderr = &m.stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.out = bufio.NewScanner(out)
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	_, _, err = m.answer() // it is ready
	return m, err
}

// ask tells the process how many commits to make, or for how long to make some.
func (m *member) ask(turn any) error {
	if _, err := fmt.Fprintln(m.in, turn); err != nil {
		return fmt.Errorf("%w: %s", err, m.stderr.String())
	}
	return nil
}

// answer waits for the next line that the process prints: how many commits it
// has made and how long they took.
func (m *member) answer() (commits int64, spent time.Duration, err error) {
	if !m.out.Scan() {
		return 0, 0, fmt.Errorf("a process ended (%w): %s", errors.Join(m.out.Err(), m.cmd.Wait()), strings.TrimSpace(m.stderr.String()))
	}
	var nanoseconds int64
	_, err = fmt.Sscan(m.out.Text(), &commits, &nanoseconds)
	return commits, time.Duration(nanoseconds), err
}

// finish ends the process.
func (m *member) finish() error {
	if err := errors.Join(m.in.Close(), m.cmd.Wait()); err != nil {
		return fmt.Errorf("%w: %s", err, m.stderr.String())
	}
	return nil
}

// do is a turn.
func (c *crowd) do(int64) error {
	for _, m := range c.members {
		if err := m.ask(c.each); err != nil {
			return err
		}
	}
	var took []time.Duration
	for _, m := range c.members {
		commits, spent, err := m.answer()
		if err != nil {
			return err
		}
		took = append(took, spent)
		c.added += commits
	}
	c.fair = append(c.fair, float64(slices.Min(took))/float64(slices.Max(took)))
	return nil
}

// finish ends the processes and looks whether every count is there.
func (c *crowd) finish(int64) error {
	for _, m := range c.members {
		if err := m.finish(); err != nil {
			return err
		}
	}
	found, err := c.total(c.dir, c.distinct())
	if err != nil {
		return err
	}
	c.lost = c.added - found
	if c.lost < 0 || c.lost > 0 && !c.loses {
		return fmt.Errorf("%d commits were acknowledged and a fresh look counts %d", c.added, found)
	}
	return nil
}

// join takes over what another crowd of the same kind has found.
func (c *crowd) join(other *crowd) {
	c.fair = append(c.fair, other.fair...)
	c.added += other.added
	c.lost += other.lost
}

// detail is what a table says of a crowd beside times.
func (c *crowd) detail() string {
	return fmt.Sprintf("%.2f, %.0f %%", median(c.fair), 100*float64(c.lost)/float64(max(c.added, 1)))
}

// beMember is what a process of a crowd, or of a storm, does: it makes as many
// commits as each line of in says, or makes some for as long as it says, and
// answers how many they were and how long they took.
func beMember(kind string, args []string, in io.Reader, out io.Writer) (err error) {
	if len(args) != 2 {
		return fmt.Errorf("%s is set: it is for the benchmarks alone, unset it", memberVariable)
	}
	kinds := append(crowdKinds(), stormCrowds()...)
	i := slices.IndexFunc(kinds, func(k crowdKind) bool { return k.name == kind })
	if i < 0 {
		return fmt.Errorf("there is no kind %q", kind)
	}
	add, finish, err := kinds[i].open(args[0], args[1])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, finish()) }()
	fmt.Fprintln(out, 0, 0)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		most, err := strconv.Atoi(lines.Text())
		var long time.Duration
		if err != nil {
			most = math.MaxInt
			if long, err = time.ParseDuration(lines.Text()); err != nil {
				return err
			}
		}
		commits, start := 0, time.Now()
		for ; commits < most && (long == 0 || time.Since(start) < long); commits++ {
			if err := add(); err != nil {
				return err
			}
		}
		fmt.Fprintln(out, commits, int64(time.Since(start)))
	}
	return nil
}
