package schema_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/freehold-dev/freehold/schema"
)

// Cases 71, 72 and 73: ids that other encodings throw together, and ids in
// letters of any script.
func TestNoTwoIDsShareADirectory(t *testing.T) {
	rule := regexp.MustCompile(`^([a-z0-9][a-z0-9_-]{0,63}|~[a-z2-7]{52})$`)
	digest, err := schema.InstanceDir("an id that is no name")
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{
		"a/b", "a.b", "a b", "a-b", "a_b", "a:b", "a%2Fb", "A_b", "a*b", `a\b`, "a?b",
		"A.1", "A.2", "A", "A.json", "A.json.tmp", ".A", "a", "a.json",
		"构建", "发版", "\u00e9", "e\u0301", "\U0001F600",
		".", "..", "../x", "/", ".freehold", "~", "-", "_", "-a", "_a", "con", "view", "schema",
		digest, digest[1:], strings.ToUpper(digest), strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("x", 1024),
	}
	owner := map[string]string{}
	for _, id := range ids {
		dir, err := schema.InstanceDir(id)
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		if !rule.MatchString(dir) || !schema.ValidInstanceDir(dir) {
			t.Errorf("%q lives in %q, which does not fit the rule", id, dir)
		}
		// Also where file names ignore case.
		if other, taken := owner[strings.ToLower(dir)]; taken {
			t.Errorf("%q and %q both live in %q", id, other, dir)
		}
		owner[strings.ToLower(dir)] = id
	}
	for _, id := range []string{"a-b", "a_b", "a", "con", "4f2a"} {
		if dir, _ := schema.InstanceDir(id); dir != id {
			t.Errorf("%q lives in %q", id, dir)
		}
	}
}

// Case 69: what cannot be an id is refused, and what is no name is encoded.
func TestWhatIsNoIDIsRefused(t *testing.T) {
	for name, id := range map[string]string{
		"empty": "", "newline": "a\nb", "NUL": "a\x00b", "escape": "\x1b[2J", "C1": "a\u0085b",
		"no UTF-8": "a\xff", "too long": strings.Repeat("a", 1024+1),
	} {
		dir, err := schema.InstanceDir(id)
		if !errors.Is(err, schema.ErrInstance) {
			t.Errorf("%s: got %q, %v", name, dir, err)
		}
	}
	for _, name := range []string{"", ".", "..", "~", "~a", "A", "a.b", "a/b", "-a", "_a", ".freehold", ".freehold-new-0", "~" + strings.Repeat("1", 52), strings.Repeat("a", 65)} {
		if schema.ValidInstanceDir(name) {
			t.Errorf("%q passes for the directory of an instance", name)
		}
	}
}

func TestInstancesOfADeclarationNeitherComeNorGo(t *testing.T) {
	one := &schema.Declaration{State: "session"}
	many := &schema.Declaration{State: "session", Instances: schema.Instances{By: "session_id"}}
	for _, pair := range [][2]*schema.Declaration{{one, many}, {many, one}} {
		if _, _, err := pair[0].Merge(pair[1]); !errors.Is(err, schema.ErrDeclaration) || !strings.Contains(err.Error(), "an instance per session_id") {
			t.Errorf("got %v", err)
		}
	}
	merged, more, err := many.Merge(many)
	if err != nil || more || merged.Instances != many.Instances {
		t.Errorf("got %+v, %v, %v", merged, more, err)
	}
}
