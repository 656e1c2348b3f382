package schema

import "testing"

func TestVersionsOfTwoHistoriesHaveNoOrder(t *testing.T) {
	version := func(epoch, revision uint64, nonce string) Version { return Version{epoch, revision, nonce} }
	for _, c := range []struct {
		v, u  Version
		after bool
	}{
		{version(1, 2, "a"), version(1, 1, "b"), true},
		{version(2, 1, "a"), version(1, 9, "b"), true},
		{version(1, 1, "a"), Version{}, true},
		{version(1, 1, "a"), version(1, 1, "a"), false},
		{version(1, 1, "a"), version(1, 1, "b"), false},
	} {
		if c.v.After(c.u) != c.after || c.u.After(c.v) {
			t.Errorf("%v after %v: %v, and the other way round: %v", c.v, c.u, c.v.After(c.u), c.u.After(c.v))
		}
	}
}

func TestVersionText(t *testing.T) {
	for _, v := range []Version{{}, Version{1786439564031000, 7, "0000000000007"}, {0, 0, "0000000000000"}, {MaxEpoch, MaxRevision, "vvvvvvvvvvvvv"}} {
		text, err := v.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Version
		if err := back.UnmarshalText(text); err != nil || back != v {
			t.Errorf("%q: got %+v, %v, want %+v", text, back, err, v)
		}
	}
	before := Version{1786439564031000, 1, "0000000000001"}
	for _, text := range []string{".", "1.2", "1.2.", "1.2.short", "01.2.0000000000000", "1.02.0000000000000", "-1.2.0000000000000", "1.2.000000000000Z",
		"1.2.0000000000000.", "4503599627370497.2.0000000000000", "1.9007199254740992.0000000000000", "18446744073709551617.2.0000000000000", " 1.2.0000000000000"} {
		v := before
		if err := v.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: no error, got %+v", text, v)
		} else if v != before {
			t.Errorf("%q: an error changed the version to %+v", text, v)
		}
	}
}
