package sidecar

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/apply"
	"github.com/freehold-dev/freehold/sidecar/internal/document"
)

func happening() *schema.Declaration {
	return &schema.Declaration{State: "agent", Owners: map[string]schema.Owner{
		"reset": {Fields: map[string]schema.Field{
			"at":      {Type: schema.TypeTime, Kind: schema.Event},
			"other":   {Type: schema.TypeTime, Kind: schema.Event},
			"cleared": {Type: schema.TypeBool},
		}},
		"cost": {Fields: map[string]schema.Field{"tokens": {Type: schema.TypeUint, DependsOn: []string{"at"}}}},
	}}
}

func newHappening(t *testing.T, o *Options) (dir string, w *Writer) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "state")
	if err := Create(dir, happening()); err != nil {
		t.Fatal(err)
	}
	return dir, openReset(t, dir, o)
}

func openReset(t *testing.T, dir string, o *Options) *Writer {
	t.Helper()
	w, err := Open(t.Context(), dir, happening(), "reset", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// resetFile returns what reset.json holds.
func resetFile(t *testing.T, dir string) *document.Document {
	t.Helper()
	doc, err := document.Decode([]byte(readFile(t, sidecarPath(dir, "reset"))))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func fieldVersion(doc *document.Document, field string) Version {
	_, by, _ := doc.Field(field)
	return by.Version
}

func begin(t *testing.T, w *Writer, field string) EventToken {
	t.Helper()
	token, err := EventOf(w, field).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestOverlappingEventsNeverEndEachOther(t *testing.T) {
	clock := time.Date(2026, 8, 11, 9, 0, 0, 0, time.UTC)
	dir, w := newHappening(t, &Options{Clock: func() time.Time { return clock }})
	first, second := begin(t, w, "at"), begin(t, w, "at")
	if first == second || fieldVersion(resetFile(t, dir), "at") != (Version{}) {
		t.Fatalf("%v and %v; the field has a version before anything was done", first, second)
	}
	ended := func(token EventToken, end func(Event, context.Context, EventToken) (Commit, error), open ...EventToken) {
		t.Helper()
		before := fieldVersion(resetFile(t, dir), "at")
		c, err := end(EventOf(w, "at"), t.Context(), token)
		if err != nil || c.Outcome != Applied {
			t.Fatalf("%v (%v)", c, err)
		}
		doc := resetFile(t, dir)
		if now := fieldVersion(doc, "at"); now != c.Version || now == before {
			t.Errorf("the field is at %v after the commit %v", now, c.Version)
		}
		var have []string
		for _, o := range doc.Open("at") {
			have = append(have, o.Token)
		}
		var want []string
		for _, token := range open {
			want = append(want, nonceOf(token))
		}
		if strings.Join(have, " ") != strings.Join(want, " ") {
			t.Errorf("open are %v, want %v", have, want)
		}
	}
	ended(second, Event.Done, first)
	if raw := string(resetFile(t, dir).Value("at")); raw != `"2026-08-11T09:00:00Z"` {
		t.Errorf("done at %s", raw)
	}
	for _, again := range []func(Event, context.Context, EventToken) (Commit, error){Event.Done, Event.Abandon} {
		_, err := again(EventOf(w, "at"), t.Context(), second)
		wantError(t, err, ErrNotOpen, "reset.json: field at: not open: the token", "never began here")
	}
	// The clock stands still, and yet it is a change.
	ended(first, Event.Done)
	third := begin(t, w, "at")
	ended(third, Event.Abandon)
	if raw := string(resetFile(t, dir).Value("at")); raw != `"2026-08-11T09:00:00Z"` {
		t.Errorf("abandoned, and the value is %s", raw)
	}
}

func TestTokensOfOtherEventsAreRefused(t *testing.T) {
	_, w := newHappening(t, nil)
	_, elsewhere := newHappening(t, nil)
	begin(t, w, "at")
	for name, token := range map[string]EventToken{
		"zero": {}, "of another field": begin(t, w, "other"), "of another state": begin(t, elsewhere, "at"),
		"never begun": apply.TokenOf(w.manifest.StateID, "at", "0000000000001"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := EventOf(w, "at").Done(t.Context(), token)
			wantError(t, err, ErrNotOpen)
		})
	}
	_, err := EventOf(w, "cleared").Begin(t.Context())
	wantError(t, err, ErrValue, "it is a value, and only an event")
	_, err = EventOf(w, "tokens").Begin(t.Context())
	wantError(t, err, ErrNotOwner, "it belongs to owner cost")
	for _, verb := range []schema.Verb{schema.VerbSet, schema.VerbClear, schema.VerbRaise, schema.VerbInsert, schema.VerbDelete} {
		_, err := w.Update(t.Context(), func(tx *Tx) error {
			tx.Apply(Op{Field: "at", Verb: verb, Value: []byte(`"2026-08-11T09:00:00Z"`)})
			return nil
		})
		wantError(t, err, ErrValue, "is not for a field of kind event")
	}
}

func TestTokensOfEventsAreStrict(t *testing.T) {
	token := apply.TokenOf("0123456789abcdefghijklmnop", "at", "000000000000v")
	text, _ := token.MarshalText()
	var got EventToken
	if err := got.UnmarshalText(text); err != nil || got != token || string(text) != "0123456789abcdefghijklmnop:at:000000000000v" {
		t.Errorf("%s became %v (%v)", text, got, err)
	}
	for _, wrong := range []string{"x", string(text) + ":", string(text) + "v", "0123456789abcdefghijklmnop:At:000000000000v", ":at:000000000000v"} {
		wantError(t, got.UnmarshalText([]byte(wrong)), ErrNotOpen)
	}
	if err := got.UnmarshalText(nil); err != nil || !got.IsZero() {
		t.Errorf("no text became %v (%v)", got, err)
	}
}

func TestOpenEventsAreBounded(t *testing.T) {
	_, w := newHappening(t, nil)
	var tokens []EventToken
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range apply.MaxOpen {
		wg.Go(func() {
			token, err := EventOf(w, "at").Begin(t.Context())
			mu.Lock()
			defer mu.Unlock()
			if tokens = append(tokens, token); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, err := EventOf(w, "at").Begin(t.Context())
	wantError(t, err, ErrValue, "it has begun 64 times", "was never done")
	begin(t, w, "other") // has its own room
	if _, err := EventOf(w, "at").Abandon(t.Context(), tokens[0]); err != nil {
		t.Error(err)
	}
	begin(t, w, "at")
}

// An event that is over already, as adoption knows it, is a change like any.
func TestWhatIsOverIsFolded(t *testing.T) {
	dir, w := newHappening(t, nil)
	var last Version
	for range 2 {
		c := update(t, w, func(tx *Tx) error {
			tx.Apply(Op{Field: "at", Verb: schema.VerbDone, Value: []byte(`"2026-08-11T11:00:00+02:00"`)})
			return nil
		})
		if now := fieldVersion(resetFile(t, dir), "at"); c.Outcome != Applied || now != c.Version || now == last {
			t.Errorf("%v, and the field is at %v", c, now)
		}
		last = c.Version
	}
	if raw := string(resetFile(t, dir).Value("at")); raw != `"2026-08-11T09:00:00Z"` {
		t.Errorf("it is %s", raw)
	}
}

// roleBegin begins an event, prints the token, and waits to be killed before it
// is done.
func roleBegin(args []string) error {
	w, err := Open(context.Background(), args[0], nil, "reset", nil)
	if err != nil {
		return err
	}
	token, err := EventOf(w, "at").Begin(context.Background())
	if err != nil {
		return err
	}
	fmt.Println(token)
	os.Stdin.Read(make([]byte, 1))
	_, err = EventOf(w, "at").Done(context.Background(), token)
	return err
}

func TestEventOfADeadProcessStaysOpenUntilAbandoned(t *testing.T) {
	dir, w := newHappening(t, nil)
	cmd := roleProcess(t, "begin", dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var text string
	if _, err := fmt.Fscanln(out, &text); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	var token EventToken
	if err := token.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	update(t, w, func(tx *Tx) error {
		tx.Apply(Op{Field: "cleared", Verb: schema.VerbSet, Value: []byte("true")})
		return nil
	})
	if open := resetFile(t, dir).Open("at"); len(open) != 1 || open[0].PID != cmd.Process.Pid || open[0].Token != nonceOf(token) {
		t.Fatalf("open are %+v, want what process %d began", open, cmd.Process.Pid)
	}
	c, err := EventOf(w, "at").Abandon(t.Context(), token)
	doc := resetFile(t, dir)
	if err != nil || len(doc.Open("at")) != 0 || fieldVersion(doc, "at") != c.Version || doc.Value("at") != nil {
		t.Errorf("abandoned (%v): open %v, the field at %v with %s", err, doc.Open("at"), fieldVersion(doc, "at"), doc.Value("at"))
	}
}

func nonceOf(t EventToken) string {
	_, _, nonce := t.Parts()
	return nonce
}
