package statetest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/freehold-dev/freehold/reader"
	"github.com/freehold-dev/freehold/reader/statetest"
	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A setting stands for the type that generated code makes of it.
type setting func(*statetest.Maker)

func declaration() *schema.Declaration {
	return &schema.Declaration{State: "shop", Owners: map[string]schema.Owner{
		"till": {Fields: map[string]schema.Field{
			"open":      {Type: schema.TypeBool},
			"opened":    {Type: schema.TypeTime, Kind: schema.Once},
			"customers": {Type: schema.TypeUint, Kind: schema.Counter},
			"smells":    {Type: schema.TypeString, Kind: schema.Set},
			"sold":      {Kind: schema.Map, Value: &schema.Field{Type: schema.TypeUint, Kind: schema.Counter}},
			"wares":     {Kind: schema.Map, Record: map[string]schema.Field{"taken": {Type: schema.TypeUint, Kind: schema.Counter}}},
		}},
		"manager": {Mode: schema.Exclusive, Fields: map[string]schema.Field{
			"best":  {Type: schema.TypeInt, Kind: schema.Max},
			"worst": {Type: schema.TypeInt, Kind: schema.Min},
			"wares": {Kind: schema.Map, Keys: true, Record: map[string]schema.Field{"name": {Type: schema.TypeString}}},
		}},
		"porter": {Fields: map[string]schema.Field{"name": {Type: schema.TypeString}}},
	}}
}

func opened(v time.Time) setting { return statetest.Put("opened", schema.Time, v) }
func open(v bool) setting        { return statetest.Put("open", schema.Bool, v) }
func customers(v uint64) setting { return statetest.Put("customers", schema.Uint, v) }
func best(v int64) setting       { return statetest.Put("best", schema.Int, v) }
func worst(v int64) setting      { return statetest.Put("worst", schema.Int, v) }
func name(v string) setting      { return statetest.Put("name", schema.String, v) }

func smells(v ...string) setting   { return statetest.Insert("smells", schema.String, v...) }
func wares(keys ...string) setting { return statetest.Keys("wares", keys...) }
func sold(key string, v uint64) setting {
	return statetest.PutAt("sold", key, "", schema.Uint, v)
}
func waresName(key, v string) setting {
	return statetest.PutAt("wares", key, "name", schema.String, v)
}
func waresTaken(key string, v uint64) setting {
	return statetest.PutAt("wares", key, "taken", schema.Uint, v)
}

// stored returns the owner's fields as its own writer sees them.
func stored(t *testing.T, dir, owner string) map[string]string {
	t.Helper()
	w, err := sidecar.Open(t.Context(), dir, nil, owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	fields := map[string]string{}
	_, err = w.Update(t.Context(), func(tx *sidecar.Tx) error {
		for _, field := range declaration().Owners[owner].FieldNames() {
			if declaration().Owners[owner].Fields[field].Kind == schema.Once {
				continue
			}
			if raw, ok := tx.Get(field); ok {
				fields[field] = string(raw)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestSettingsAreWrittenByTheirOwnersAndKinds(t *testing.T) {
	dir := statetest.State(t, declaration(), []setting{
		best(3), customers(2), open(true), worst(3), best(7), worst(8), customers(5), open(false), best(5),
	})
	for owner, want := range map[string]map[string]string{
		"till":    {"open": "false", "customers": "7"},
		"manager": {"best": "7", "worst": "3"},
		"porter":  {},
	} {
		if diff := cmp.Diff(want, stored(t, dir, owner)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", owner, diff)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "porter.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an owner without settings has a sidecar: %v", err)
	}
}

// Of several settings of a once field the first counts, as of several claims.
func TestOnceFieldIsClaimedAtTheTimeOfItsFirstSetting(t *testing.T) {
	at := time.Date(2026, 8, 11, 9, 12, 44, 0, time.UTC)
	dir := statetest.State(t, declaration(), []setting{opened(at), open(true), opened(at.Add(time.Hour))})
	_, by, err := sidecar.ResolveClaim(dir, "till", "opened", "")
	if err != nil || !by.At.Equal(at) || by.Program != "statetest" {
		t.Errorf("claimed by %+v (%v), want at %v", by, err, at)
	}
	if diff := cmp.Diff(map[string]string{"open": "true"}, stored(t, dir, "till")); diff != "" {
		t.Errorf("the others (-want +got)\n%s", diff)
	}
}

// A key is there whoever has something at it, also if the owner of the keys
// has nothing; it comes after the other owner's name in the alphabet here.
func TestSettingsOfMapsCreateTheKeysThatTheyName(t *testing.T) {
	dir := statetest.State(t, declaration(), []setting{
		waresTaken("bread", 2), sold("bread", 1), sold("bread", 2), smells("tea", "bread", "tea"), waresTaken("cake", 0), waresTaken("bread", 3),
		waresName("pie", "Pie"), wares("jam", "pie"),
	})
	for owner, want := range map[string]map[string]string{
		"till":    {"smells": `["bread","tea"]`, "sold": `{"bread":3}`, "wares": `{"bread":{"taken":5},"cake":{"taken":0}}`},
		"manager": {"wares": `{"bread":{},"cake":{},"jam":{},"pie":{"name":"Pie"}}`},
	} {
		if diff := cmp.Diff(want, stored(t, dir, owner)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", owner, diff)
		}
	}
}

func TestEveryStateIsItsOwnAndGoneAfterTheTest(t *testing.T) {
	var dirs []string
	t.Run("make", func(t *testing.T) {
		for range 2 {
			dirs = append(dirs, statetest.State(t, declaration(), []setting{open(true)}))
		}
	})
	if dirs[0] == dirs[1] {
		t.Errorf("two states share %s", dirs[0])
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}

// A recorder is a test that notes how it was ended.
type recorder struct {
	testing.TB
	fatal string
}

func (r *recorder) Fatal(args ...any) {
	r.fatal = args[0].(error).Error()
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Fatal(fmt.Errorf(format, args...))
}

func TestASettingThatDoesNotFitEndsTheTest(t *testing.T) {
	for _, test := range []struct {
		settings []setting
		want     string
	}{
		{[]setting{name("\xff")}, "setting name: invalid UTF-8 at byte 0"},
		{[]setting{customers(1<<64 - 1), customers(1)}, "till.json: field customers: invalid value"},
		{[]setting{smells("a", "\xff")}, "setting smells: invalid UTF-8 at byte 0"},
		{[]setting{waresName("pie", "\xff")}, "setting wares: invalid UTF-8 at byte 0"},
		{[]setting{wares("")}, "manager.json: field wares: invalid value: a key of a map cannot be empty"},
	} {
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			statetest.State(r, declaration(), test.settings)
		}()
		<-done
		if !strings.Contains(r.fatal, test.want) {
			t.Errorf("ended with %q, want %q", r.fatal, test.want)
		}
	}
}

// openRaw opens a state as a view package does. In the directory "closed" the
// Reader gives no view.
func openRaw(dir string) (*reader.Typed[*reader.View], error) {
	closed := filepath.Base(dir) == "closed"
	if closed {
		dir = filepath.Dir(dir)
	}
	r, err := reader.OpenTyped(dir, nil, func(v *reader.View) *reader.View { return v })
	if closed {
		r.Close()
	}
	return r, err
}

func TestViewIsTakenOrEndsTheTest(t *testing.T) {
	dir := statetest.State(t, declaration(), []setting{name("x")})
	if v := statetest.View(t, openRaw, dir); v.Declaration().State != declaration().State {
		t.Errorf("got a view of %s", v.Declaration().State)
	}
	for dir, want := range map[string]string{t.TempDir(): "not a state directory", filepath.Join(dir, "closed"): "closed"} {
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			statetest.View(r, openRaw, dir)
		}()
		<-done
		if !strings.Contains(r.fatal, want) {
			t.Errorf("ended with %q, want %q", r.fatal, want)
		}
	}
}

// A stubborn test goes on when it has failed, and chooses its temporary
// directory.
type stubborn struct {
	testing.TB
	dir string
}

func (s stubborn) TempDir() string     { return s.dir }
func (stubborn) Fatal(...any)          {}
func (stubborn) Fatalf(string, ...any) {}

// panics runs f and returns what it panicked with, or nil.
func panics(f func()) (with any) {
	defer func() { with = recover() }()
	f()
	return nil
}

func TestNoStateThatExistsIsWritten(t *testing.T) {
	dir := statetest.State(t, declaration(), []setting{open(true), customers(1)})
	with := panics(func() {
		statetest.State(stubborn{t, filepath.Dir(dir)}, declaration(), []setting{open(false), customers(1), best(1)})
	})
	if err, ok := with.(error); !ok || !errors.Is(err, store.Exists) {
		t.Errorf("panicked with %v, want %v", with, store.Exists)
	}
	if diff := cmp.Diff(map[string]string{"open": "true", "customers": "1"}, stored(t, dir, "till")); diff != "" {
		t.Errorf("the state was written (-want +got)\n%s", diff)
	}
}

func TestNothingGoesOnAfterAFailure(t *testing.T) {
	good := statetest.State(t, declaration(), []setting{name("x")})
	for what, f := range map[string]func(t testing.TB){
		"a value that cannot be encoded": func(t testing.TB) { statetest.State(t, declaration(), []setting{name("\xff"), name("x")}) },
		"a value that does not fit":      func(t testing.TB) { statetest.State(t, declaration(), []setting{customers(1<<64 - 1), customers(1)}) },
		"no state":                       func(t testing.TB) { statetest.View(t, openRaw, t.Name()) },
		"no view":                        func(t testing.TB) { statetest.View(t, openRaw, filepath.Join(good, "closed")) },
	} {
		if with := panics(func() { f(stubborn{t, t.TempDir()}) }); with == nil {
			t.Errorf("%s: it went on", what)
		}
	}
}
