package failure

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

func TestQuotedWordsAreOneWordToAShell(t *testing.T) {
	for _, word := range []string{"/tmp/freehold-demo-1", "a b", "it's", "$HOME", "`id`", "~", "*", "", "a\\b", "-x", "a\nb", "#", "a;b", "{a,b}", "!x", "=a", "-x\x1b[2J 100%\\n it's `id` $HOME é", "\xff\nz", "a\u202eb"} {
		out, err := exec.Command("sh", "-c", "printf '<%s>' "+shellWord(word)).Output()
		if strings.ContainsFunc(shellWord(word), func(r rune) bool { return !unicode.IsGraphic(r) }) {
			t.Errorf("%q becomes %q, which a terminal does not show", word, shellWord(word))
		}
		if err != nil || string(out) != "<"+word+">" {
			t.Errorf("%q comes back as %s (%v)", word, out, err)
		}
	}
}
