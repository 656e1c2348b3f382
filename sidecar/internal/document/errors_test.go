package document

import (
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema/errorstest"
)

var said = errorstest.Golden{
	Update: update,
	Also:   []string{"*errors.txt"},
	Parts:  "packages sidecar, reader and adopt name the file and say which command mends it",
}

// TestErrorsSayWhatToDo provokes what the tables of the other tests do not.
func TestErrorsSayWhatToDo(t *testing.T) {
	d := sample(1)
	said.Same(t, "belongs to another owner", d.Belongs("reset", "5s0h000000000"))
	d.State = "\x1b[2J\u202e"
	said.Same(t, "belongs to another state", d.Belongs("cost", "5s0h000000000"))
	_, err := sample(1).Rows("turns")
	said.Same(t, "rows of a number", err)
	for how, c := range map[string]struct{ old, new string }{
		"a process id that is none":       {`"pid":4711,"start"`, `"pid":"\u001b","start"`},
		"a start time that is no integer": {`"start":88`, `"start":-1.5`},
		"incarnations that are no object": {`"at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711}`, `"at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711,"keys":[]}`},
		"an incarnation that is none":     {`"at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711}`, `"at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711,"keys":{"\u001b[2J":"\u202e"}}`},
	} {
		_, err := Decode([]byte(strings.Replace(encode(t, sample(2)), c.old, c.new, 1)))
		said.Same(t, "decode: "+how, err)
	}
	entry := `"at":"2026-08-11T09:12:44.031Z","program":"stop-hook","pid":4711}`
	for how, more := range map[string]string{
		"an observation that is no object":       `"observed":[]`,
		"an observation of what is no field":     `"observed":{"\u001b[2J":""}`,
		"an observation of what is no version":   `"observed":{"reset":"\u202e"}`,
		"open events that are no object":         `"open":7`,
		"an open event without a token":          `"open":{"\u001b[2J":{}}`,
		"an open event that says nothing of who": `"open":{"0000000000001":null}`,
	} {
		_, err := Decode([]byte(strings.Replace(encode(t, sample(2)), entry, strings.TrimSuffix(entry, "}")+","+more+"}", 1)))
		said.Same(t, "decode: "+how, err)
	}
	d = sample(1)
	d.Begin("note", "\x1b[2J", by(d.Version))
	_, err = d.Encode()
	said.Same(t, "encode: an event under what is no token", err)
	d = sample(1)
	d.Writer.Identity.Nonce = "a\xff"
	_, err = d.Encode()
	said.Same(t, "encode: a nonce that is not UTF-8", err)
	d, err = Decode([]byte(edited(t, `"turns":12`, `"turns":12,"COUNT":1`)))
	if err != nil {
		t.Fatal(err)
	}
	d.Set("count", []byte("1"), by(d.Version))
	_, err = d.Encode()
	said.Same(t, "encode: names that differ in case", err)
}

// TestErrorsSayWhatToDoOfClaims is about what a claim may say.
func TestErrorsSayWhatToDoOfClaims(t *testing.T) {
	for how, spoil := range map[string]func(*Claim){
		"no names": func(c *Claim) { c.Field = "\x1b[2J" }, "no state": func(c *Claim) { c.State = "" }, "not UTF-8": func(c *Claim) { c.State = "a\xff" },
		"too long": func(c *Claim) { c.Writer.Program = strings.Repeat("x", MaxClaim) },
	} {
		c := Claim{Owner: "hook", Field: "fired", State: "5s0h000000000", Nonce: nonceOf(1), At: testTime, Writer: testWriter}
		spoil(&c)
		_, err := c.Encode()
		said.Same(t, "claim: "+how, err)
	}
	said.Same(t, "claim: of another field", (&Claim{Owner: "hook", Field: "fired", State: "5s0h000000000"}).Belongs("hook", "asked", "5s0h000000000"))
}

// TestErrorsAreAllTold fails for an error that no test of the package provokes.
func TestErrorsAreAllTold(t *testing.T) { said.Complete(t) }
