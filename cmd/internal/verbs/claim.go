package verbs

import (
	"context"
	"fmt"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
)

// A claimReport is the answer of claim.
type claimReport struct {
	Owner string `json:"owner"`
	Field string `json:"field"`
	Won   bool   `json:"won"`
	By    struct {
		Program string `json:"program"`
		PID     int    `json:"pid"`
		At      string `json:"at"`
		Claim   string `json:"claim"`
	} `json:"by"`
}

// claim claims a once field. A lost claim is an answer, and a negative one.
func claim(ctx context.Context, c *Call) (Report, error) {
	writer, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	won, by, err := writer.Claim(ctx, c.Args[1])
	if err != nil {
		return nil, err
	}
	r := claimReport{Owner: c.Args[0], Field: c.Args[1], Won: won}
	r.By.Program, r.By.PID, r.By.At, r.By.Claim = by.Program, by.Identity.PID, display.Exact(by.At), by.ID
	if !won {
		return r, failure.Verdict{Status: failure.ExitNegative}
	}
	return r, nil
}

func (r claimReport) Text(bool) string {
	if r.Won {
		return fmt.Sprintf("%s %s won at %s, claim %s\n", r.Owner, r.Field, r.By.At, r.By.Claim)
	}
	return fmt.Sprintf("%s %s lost to %s, process %d, at %s, claim %s\n", r.Owner, r.Field, display.Escape(r.By.Program), r.By.PID, r.By.At, r.By.Claim)
}
