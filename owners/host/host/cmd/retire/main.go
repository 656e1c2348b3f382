// Command retire retires the host.
//
//	retire [-dir STATE] [-grace DURATION] [-kill]
//
// The command retires the process that holds the lease at the start, and no
// successor that a supervisor has started meanwhile. The output has the outcome
// and the proofs. The exit status is 0 if that process has ended, 9 if the
// process was gone before or there is no host, 6 if another process is the host
// by now or no proof shows which process is, 5 if the process did not end in
// time, and 1 after another failure.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/freehold-dev/freehold/owners/command"
	"github.com/freehold-dev/freehold/sidecar/retire"
	"github.com/freehold-dev/freehold/sidecar/store"
)

func main() {
	o := &retire.Options{Program: "retire", Notice: func(err error) { fmt.Fprintf(os.Stderr, "retire: %v\n", err) }}
	command.Command{
		Program: "retire",
		Flags: func(f *flag.FlagSet) {
			f.DurationVar(&o.Grace, "grace", 10*time.Second, "how long the host may take to end")
			f.BoolVar(&o.Kill, "kill", false, "kill it if it takes longer")
		},
		Do: func(ctx context.Context, dir string, _ []string) error { return end(ctx, dir, o) },
	}.Main()
}

// end retires the host and prints the outcome.
func end(ctx context.Context, dir string, o *retire.Options) error {
	p, err := retire.Prepare(dir, "host")
	if err != nil {
		return err
	}
	r, err := p.Run(ctx, o)
	fmt.Printf("%v: %v\n", p.Holding, r.Outcome)
	for _, proof := range r.Proofs {
		fmt.Printf("  %s: %s\n", proof.Code, proof.Says)
	}
	if err == nil && r.Outcome == retire.AlreadyGone {
		return fmt.Errorf("%w: the host was gone: nothing to do", store.NoHolder)
	}
	return err
}
