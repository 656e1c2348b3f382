//go:build unix

package store

import (
	"errors"
	"os"
	"testing"
)

func TestPrivateGroupHasNobodyElse(t *testing.T) {
	const ann = "ann:x:1000:1000:Ann:/home/ann:/bin/sh\n"
	for name, c := range map[string]struct {
		passwd, group string
		want          bool
	}{
		"its user's alone":           {ann, "ann:x:1000:\n", true},
		"its user is listed":         {ann, "ann:x:1000:ann\n", true},
		"no final newline":           {ann, "ann:x:1000:", true},
		"another member":             {ann, "ann:x:1000:ann,bob\n", false},
		"another user's own too":     {ann + "bob:x:1001:1000::/:/bin/sh\n", "ann:x:1000:\n", false},
		"another name":               {ann, "users:x:1000:\n", false},
		"two groups of one number":   {ann, "ann:x:1000:\nfriends:x:1000:bob\n", false},
		"not the user's own":         {"ann:x:1000:100::/:/bin/sh\n", "ann:x:1000:\n", false},
		"a user whom no file knows":  {"", "ann:x:1000:\n", false},
		"a group that no file knows": {ann, "", false},
		"half a line":                {ann, "ann:x:1000", false},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(dir+"/passwd", []byte(c.passwd), 0o600), os.WriteFile(dir+"/group", []byte(c.group), 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := privateGroup(dir, 1000, 1000); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if privateGroup(t.TempDir(), 1000, 1000) {
		t.Error("without any file there is one")
	}
}
