package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// playView shows what every reader of the state sees now.
func playView(ctx context.Context, s *stage) error {
	r, err := reader.Open(s.state())
	if err != nil {
		return err
	}
	defer r.Close()
	v, err := r.View(ctx)
	if err != nil {
		return err
	}
	table, unset, err := provenance(v)
	if err != nil {
		return err
	}
	explained, err := s.explain(ctx)
	if err != nil {
		return err
	}
	s.report.Next = "cd " + store.ShellWord(s.dir) + " && bin/freehold view --dir state"
	s.screen.tell(tellView(unset)...)
	s.screen.table(table)
	s.screen.tell(tellExplanation(explained)...)
	s.screen.tell(tellNext(s.report)...)
	return s.screen.err
}

// provenance returns the fields that are set, each with who wrote it, and how
// many others there are. `freehold view` has them all, in wider columns.
func provenance(v *reader.View) (table [][]string, unset int, err error) {
	table = append(table, []string{"FIELD", "VALUE", "OWNER", "BY"})
	d := v.Declaration()
	for _, owner := range d.OwnerNames() {
		for _, name := range d.Owners[owner].FieldNames() {
			raw, err := v.Field(name).Raw()
			if errors.Is(err, reader.ErrUnset) {
				unset++
				continue
			}
			if err != nil {
				return nil, 0, err
			}
			f := d.Owners[owner].Fields[name]
			by, _ := v.Field(name).Provenance()
			table = append(table, []string{name, brief(f, f.Text(raw)), owner, fmt.Sprintf("%s %d", by.Program, by.PID)})
		}
	}
	return table, unset, nil
}

// brief shortens an instant's text to seconds.
func brief(f schema.Field, text string) string {
	if t, err := time.Parse(time.RFC3339Nano, text); f.Type == schema.TypeTime && err == nil {
		return t.UTC().Format(time.RFC3339)
	}
	return text
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// explain runs the command line on the field that the old way loses, and
// returns its first sentences.
func (s *stage) explain(ctx context.Context) (string, error) {
	const sentences = 2
	out, err := s.run(ctx, "freehold", "explain", fieldReset, "--dir", s.state())
	lines := strings.Split(out, "\n")
	return strings.Join(lines[:min(sentences, len(lines))], " "), err
}
