package statedir

import (
	"os/exec"
	"testing"
)

func TestQuotedWordsAreOneWordToAShell(t *testing.T) {
	for _, word := range []string{"/tmp/freehold-demo-1", "a b", "it's", "$HOME", "`id`", "~", "*", "", "a\\b", "-x", "a\nb", "#", "a;b", "{a,b}", "!x", "=a"} {
		out, err := exec.Command("sh", "-c", "printf '<%s>' "+ShellWord(word)).Output()
		if err != nil || string(out) != "<"+word+">" {
			t.Errorf("%q comes back as %s (%v)", word, out, err)
		}
	}
}
