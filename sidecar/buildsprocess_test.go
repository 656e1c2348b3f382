package sidecar

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"
)

func init() { roles["build"] = roleBuild }

// roleBuild commits once as tool, as a program of the older or of the younger
// build does.
func roleBuild(args []string) error {
	d, commit := usage(), oldCommit
	if args[1] == "younger" {
		d, commit = younger(), youngCommit
	}
	i, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), args[0], d, "tool", &Options{Wait: time.Minute})
	if err != nil {
		return err
	}
	c, err := w.Update(context.Background(), func(tx *Tx) error { commit(tx, i); return nil })
	if err == nil && c.Outcome != Applied {
		err = fmt.Errorf("commit %d is %v", i, c.Outcome)
	}
	return errors.Join(err, w.Close())
}

// Case 60. Programs of two builds, each a process of its own, take turns.
func TestTwoBuildsOfProcessesLoseNothing(t *testing.T) {
	s := newUsage(t)
	s.update("creator", create)
	s.update("tool", use)
	for i := range 10 {
		build := [2]string{"younger", "older"}[i%2]
		if out, err := roleProcess(t, "build", s.dir, build, strconv.Itoa(i)).Output(); err != nil {
			t.Fatalf("the %s build: %v %s", build, err, out)
		}
	}
	s.wantStored("tool", map[string]string{
		"later":  `"8"`,
		"turns":  "10",
		"target": `{"port":9,"zone":"8"}`,
		"hosts":  `[{"host":"h","port":9,"zone":"8"}]`,
		"skills": `{"deploy":{"rank":8,"target":{"port":9,"zone":"8"},"use_count":6}}`,
	})
}
