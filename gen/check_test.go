package gen_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/freehold-dev/freehold/gen"
)

// library has the types of everything outside of its module that generated
// code imports, loaded once.
var library = sync.OnceValues(func() (map[string]*types.Package, error) {
	const freehold = "github.com/freehold-dev/freehold/"
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile},
		"context", "fmt", "testing", "time", "github.com/shopspring/decimal", "github.com/go-json-experiment/json/jsontext",
		freehold+"reader", freehold+"schema", freehold+"sidecar", freehold+"reader/statetest")
	if err != nil {
		return nil, err
	}
	found := map[string]*types.Package{}
	for _, p := range loaded {
		for _, problem := range p.Errors {
			return nil, problem
		}
		found[p.PkgPath] = p.Types
	}
	return found, nil
})

// A module type-checks generated packages, and others that a test adds, as the
// go command would build them.
type module struct {
	fset    *token.FileSet
	sources map[string][]*ast.File // by import path
	checked map[string]*types.Package
	library map[string]*types.Package
}

func newModule(t reporter, files []gen.File) *module {
	t.Helper()
	known, err := library()
	if err != nil {
		t.Fatalf("load the library that generated code imports: %v", err)
	}
	m := &module{token.NewFileSet(), map[string][]*ast.File{}, map[string]*types.Package{}, known}
	for _, file := range files {
		if strings.HasSuffix(file.Path, ".go") {
			m.add(t, path.Join(shopModule, path.Dir(file.Path)), string(file.Data))
		}
	}
	return m
}

func (m *module) add(t reporter, importPath, text string) {
	t.Helper()
	file, err := parser.ParseFile(m.fset, importPath+".go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	m.sources[importPath] = append(m.sources[importPath], file)
}

// Import implements [types.Importer].
func (m *module) Import(importPath string) (*types.Package, error) {
	if p, ok := m.library[importPath]; ok {
		return p, nil
	}
	if p, ok := m.checked[importPath]; ok {
		return p, nil
	}
	files, ok := m.sources[importPath]
	if !ok {
		return nil, fmt.Errorf("no package %q", importPath)
	}
	config := types.Config{Importer: m, GoVersion: "go1.26"}
	p, err := config.Check(importPath, m.fset, files, nil)
	m.checked[importPath] = p
	return p, err
}

// check type-checks every package.
func (m *module) check() error {
	for importPath := range m.sources {
		if _, err := m.Import(importPath); err != nil {
			return err
		}
	}
	return nil
}

func TestGeneratedTreeTypeChecks(t *testing.T) {
	src, _ := shop(t)
	if err := newModule(t, generate(t, src)).check(); err != nil {
		t.Error(err)
	}
}

// TestGeneratedCodeIsUsedAsDocumented compiles a program that uses every kind
// of accessor, and fails to compile programs that misuse them.
func TestGeneratedCodeIsUsedAsDocumented(t *testing.T) {
	src, _ := shop(t)
	files := generate(t, src)
	for _, test := range []struct{ name, body, want string }{
		{"control", `
			w, err := managerfile.Open(ctx, dir, nil)
			if err != nil { return err }
			defer w.Close()
			c, err := w.Update(ctx, func(tx managerfile.Tx) error {
				tx.ShopCondition().Set(shop.ShopConditionClosedForNow())
				tx.LastSeen().Raise(time.Now())
				tx.Shortest().Lower(time.Minute)
				tx.Deficit().Add(-1)
				tx.IfVersion(sidecar.Version{})
				n, ok := tx.Deficit().Get()
				_, _ = n + 1, ok
				return nil
			})
			_ = c.Outcome == sidecar.Applied
			r, err := shop.Open(dir)
			if err != nil { return err }
			defer r.Close()
			v, err := r.View(ctx)
			if err != nil { return err }
			condition, err := v.ShopCondition().Get()
			_ = condition == shop.ShopConditionOpen()
			_, _ = v.Raw().Field(shop.FieldShopCondition).Provenance()
			return err`, ""},
		{"control of what depends on others", `
			var v shop.View
			seen, err := v.ObserveCrowd()
			if err != nil { return err }
			doors, err := v.ObserveDoorCount()
			if err != nil { return err }
			_ = func(tx tillfile.Tx) {
				tx.Crowd().Raise(seen, 7)
				tx.DoorCount().Add(doors, 1)
				tx.QuietFor().Lower(shop.QuietForSeen{}, time.Second)
				tx.Forecast().Set(shop.ForecastSeen{}, shop.ForecastCalm())
				tx.Forecast().Clear()
			}
			text, err := seen.MarshalText()
			if err != nil { return err }
			if err := seen.UnmarshalText(text); err != nil { return err }
			_ = v.Crowd().Freshness().Fresh()
			return err`, ""},
		{"a dependent field without a token", `var tx tillfile.Tx; tx.Crowd().Raise(7)`, "not enough arguments in call to tx.Crowd().Raise"},
		{"another field's token", `var tx tillfile.Tx; var v shop.View; seen, _ := v.ObserveDoorCount(); tx.Crowd().Raise(seen, 7)`, "cannot use seen (variable of struct type shop.DoorCountSeen) as shop.CrowdSeen value"},
		{"a token without its type", `var tx tillfile.Tx; tx.Crowd().Raise(sidecar.Seen{}, 7)`, "as shop.CrowdSeen value"},
		{"a token made by hand", `_ = shop.CrowdSeen{sidecar.Seen{}}`, "implicit assignment to unexported field ofCrowd"},
		{"a token of another type", `var v shop.View; seen, _ := v.ObserveDoorCount(); _ = shop.CrowdSeen(seen)`, "cannot convert seen (variable of struct type shop.DoorCountSeen) to type shop.CrowdSeen"},
		{"control of what has parts", `
			var v shop.View
			var seen sidecar.Ref
			_ = func(tx managerfile.Tx) {
				bread := tx.Wares().Key("bread")
				bread.Supplier().Set(shop.WaresSupplier{Phone: schema.Some("555")})
				bread.Tags().Set([]string{"fresh"})
				bread.State().Clear()
				tx.Wares().Insert("cake")
				tx.Wares().Delete("pie")
				tx.Wares().DeleteAt(seen)
				tx.Wares().At(seen).Name().Set("Bread")
			}
			_ = func(tx tillfile.Tx) {
				tx.Wares().Key("bread").Taken().Add(1)
				tx.OpenTills().Insert(3)
				tx.OpenTills().Remove(4)
				_ = tx.Smell().Has(shop.SmellBread())
				tx.Sold().Key("bread").Add(2)
				tx.LastVisit().Key("ann").Raise(time.Now())
				tx.Shelf().Key("bread").Set(shop.ShelfBoardTop())
				sale := shop.LastSale{PaidBy: schema.Some(shop.LastSalePaidByCash()), Extras: schema.Some([]shop.LastSaleExtras{shop.LastSaleExtrasBag()})}
				tx.LastSale().Set(sale)
				tx.Coupons().Set([]shop.Coupon{{Percent: schema.Some[uint64](5)}})
				tx.ReaderReply().Set(jsontext.Value("null"))
			}
			keys, err := v.Wares().Keys()
			if err != nil { return err }
			for _, key := range keys {
				taken, err := v.Wares().Key(key).Taken().OrUnset(0)
				_, _ = taken + 1, err
			}
			seen, err = v.Wares().Ref("bread")
			if err != nil { return err }
			sale, err := v.LastSale().Get()
			if err != nil { return err }
			item, ok := sale.Item.Get()
			_, _ = item + "", ok
			tills, err := v.OpenTills().OrUnset(nil)
			_ = append(tills, 1)
			n, err := v.Sold().Key("bread").Get()
			_ = n + 1
			return err`, ""},
		{"another owner's member", `var tx tillfile.Tx; tx.Wares().Key("bread").Liked()`, "has no field or method Liked"},
		{"another owner's keys", `var tx tillfile.Tx; tx.Wares().Delete("bread")`, "tx.Wares().Delete undefined (type sidecar.Part[tillfile.WaresEntry] has no field or method Delete)"},
		{"a misspelt member", `_ = shop.WaresSupplier{Fone: schema.Some("555")}`, "unknown field Fone in struct literal of type shop.WaresSupplier"},
		{"a bare member", `_ = shop.WaresSupplier{Phone: "555"}`, "as schema.Optional[string] value in struct literal"},
		{"another record", `var tx managerfile.Tx; tx.Wares().Key("a").Supplier().Set(shop.Coupon{})`, "as shop.WaresSupplier value"},
		{"another map's entry", `var tx managerfile.Tx; _ = managerfile.WaresEntry(tx.EmptyDrawers().Key("a"))`, "cannot convert"},
		{"a map that a view writes", `var v shop.View; v.Wares().Key("a").Taken().Add(1)`, "Add undefined"},
		{"a set as a value", `var tx tillfile.Tx; tx.OpenTills().Set([]uint64{1})`, "tx.OpenTills().Set undefined (type sidecar.Set[uint64] has no field or method Set)"},
		{"another owner's field", `var tx managerfile.Tx; tx.Customers()`, "tx.Customers undefined (type managerfile.Tx has no field or method Customers)"},
		{"another verb", `var tx managerfile.Tx; tx.LastSeen().Set(time.Now())`, "tx.LastSeen().Set undefined (type sidecar.Max[time.Time] has no field or method Set)"},
		{"a literal for an enum", `var tx managerfile.Tx; tx.ShopCondition().Set("open")`, `cannot use "open" (untyped string constant) as shop.ShopCondition value`},
		{"another enum", `var tx managerfile.Tx; tx.ShopCondition().Set(shop.MoodGood())`, "cannot use shop.MoodGood() (value of struct type shop.Mood) as shop.ShopCondition value"},
		{"a misspelt value", `_ = shop.ShopConditionOpne()`, "undefined: shop.ShopConditionOpne"},
		{"an enum made by hand", `_ = shop.ShopCondition{"shut"}`, "implicit assignment to unexported field s in struct literal of type shop.ShopCondition"},
		{"a view that writes", `var v shop.View; v.LastSeen().Raise(time.Now())`, "v.LastSeen().Raise undefined"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newModule(t, files)
			const program = shopModule + "/cmd/manager"
			m.add(t, program, `package main
				import (
					"context"; "time"; "github.com/go-json-experiment/json/jsontext"
					"github.com/freehold-dev/freehold/schema"; "github.com/freehold-dev/freehold/sidecar"
					"`+shopModule+`/owners/shop"; "`+shopModule+`/cmd/manager/internal/managerfile"; "`+shopModule+`/owners/shop/till/internal/tillfile"
				)
				var (_ time.Time; _ shop.View; _ managerfile.Tx; _ tillfile.Tx; _ sidecar.Version; _ schema.Rest; _ jsontext.Value)
				func use(ctx context.Context, dir string) error { `+test.body+"\nreturn nil }")
			_, err := m.Import(program)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
