package verbs

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

// A small program for hooks has the same verbs, without the weight of a command
// line, of YAML or of a terminal.
func TestVerbsLinkNoCommandLine(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"spf13/", "yaml", "lipgloss", "charmbracelet", "golang.org/x/tools"} {
			if strings.Contains(pkg, heavy) {
				t.Errorf("package verbs links %s", pkg)
			}
		}
	}
}
