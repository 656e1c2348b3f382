package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/cmd/freehold/internal/cli"
	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/explain"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// Should a home get past the manifest's check, a terminal still does not obey it.
func TestExplainShowsAnyHome(t *testing.T) {
	part := explain.Part{Provenance: reader.Provenance{Owner: "o", Status: store.Missing}, Home: "\x1b]0;pwn\a"}
	text := told(&cli.Call{}, &explain.Explanation{Field: "f", Parts: []explain.Part{part}, Type: schema.TypeInt, Kind: schema.Value}, time.Now())
	if strings.Contains(text, "\x1b]") || !strings.Contains(text, `below \x1b]0;pwn\a`) {
		t.Errorf("%q", text)
	}
}
