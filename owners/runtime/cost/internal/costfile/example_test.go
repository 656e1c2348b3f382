package costfile_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/shopspring/decimal"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/owners/runtime/cost/internal/costfile"
	"github.com/freehold-dev/freehold/sidecar"
)

// A program of the home of cost adds to a counter, in one commit.
func Example() {
	ctx := context.Background()
	temp, err := os.MkdirTemp("", "costfile")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "state")
	if err := sidecar.Create(dir, runtime.Declaration()); err != nil { // as `freehold state init` does
		log.Fatal(err)
	}

	w, err := costfile.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()
	for _, cents := range []int64{41, 84} {
		c, err := w.Update(ctx, func(tx costfile.Tx) error {
			tx.TotalUSD().Add(decimal.New(cents, -2))
			return nil
		})
		fmt.Println(c.Outcome, err)
	}
	r, err := runtime.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.TotalUSD().Get())
	// Output:
	// applied <nil>
	// applied <nil>
	// 1.25 <nil>
}
