package verbs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/freehold-dev/freehold/cmd/internal/display"
	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A beginReport is the answer of begin, and an endReport that of done.
type (
	beginReport struct {
		Owner string             `json:"owner"`
		Field string             `json:"field"`
		Token sidecar.EventToken `json:"token"`
	}
	endReport struct {
		Owner   string          `json:"owner"`
		Field   string          `json:"field"`
		Did     string          `json:"did"`
		Version sidecar.Version `json:"version"`
	}
)

func (r beginReport) Text(bool) string { return r.Token.String() + "\n" }

func (r endReport) Text(bool) string {
	return fmt.Sprintf("%s %s %s in version %v\n", r.Owner, r.Field, r.Did, r.Version)
}

// Line returns the end in one line.
func (r endReport) Line() string {
	return fmt.Sprintf("%s %s, version %d", r.Field, r.Did, r.Version.Revision)
}

// Deferred returns "": no end of an event is deferred.
func (r endReport) Deferred() string { return "" }

// For returns the process that a verb is for, by the flags that were given.
func For(flags map[string]string) (pid int, err error) {
	text, given := flags[forFlag.Name]
	if !given {
		return sidecar.Parent, nil
	}
	if pid, err = strconv.Atoi(text); err != nil || pid <= 0 {
		return 0, failure.Usage("--for %.40q is no process id: in a script, write --for $$", text)
	}
	return pid, nil
}

// begin begins an event.
func begin(ctx context.Context, c *Call) (Report, error) {
	writer, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	token, err := sidecar.EventOf(writer, c.Args[1]).Begin(ctx)
	return beginReport{c.Args[0], c.Args[1], token}, err
}

// done ends an event, or abandons it.
func done(ctx context.Context, c *Call) (Report, error) {
	var token sidecar.EventToken
	if err := token.UnmarshalText([]byte(c.Args[2])); err != nil {
		return nil, err
	}
	writer, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	event := sidecar.EventOf(writer, c.Args[1])
	end, did := event.Done, "done"
	if c.given("abandon") {
		end, did = event.Abandon, "abandoned"
	}
	commit, err := end(ctx, token)
	return endReport{c.Args[0], c.Args[1], did, commit.Version}, err
}

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
		// Process is "alive", "ended" or "unknown".
		Process string `json:"process"`
	} `json:"by"`
}

// claim claims a once field. A lost claim is a negative answer.
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
	r.By.Process = condition(by.Identity)
	if !won {
		return r, failure.Verdict{Status: failure.ExitNegative}
	}
	return r, nil
}

// condition says whether the process of id lives.
func condition(id store.Identity) string {
	switch verdict, _ := id.Judge(); verdict {
	case store.Alive:
		return "alive"
	case store.Gone:
		return "ended"
	}
	return "unknown"
}

var conditions = map[string]string{"alive": "which is alive", "ended": "which has ended", "unknown": "which may have ended"}

func (r claimReport) Text(bool) string {
	if r.Won {
		return fmt.Sprintf("%s %s won at %s, claim %s\n", r.Owner, r.Field, r.By.At, r.By.Claim)
	}
	return fmt.Sprintf("%s %s lost to %s, process %d, %s, at %s, claim %s\n", r.Owner, r.Field, display.Escape(r.By.Program), r.By.PID, conditions[r.By.Process], r.By.At, r.By.Claim)
}
