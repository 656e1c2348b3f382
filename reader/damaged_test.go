package reader_test

import (
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// A damage is what stands in the place of a sidecar.
type damage struct {
	owner string
	of    func(m *maker, text []byte) []byte
}

func replaced(old, by string) func(*maker, []byte) []byte {
	return func(_ *maker, text []byte) []byte { return edited(text, old, by) }
}

// resealed is replaced with a right sum.
func resealed(old, by string) func(*maker, []byte) []byte {
	return func(_ *maker, text []byte) []byte { return sealed(edited(text, old, by)) }
}

func becomes(text string) func(*maker, []byte) []byte {
	return func(*maker, []byte) []byte { return []byte(text) }
}

// damages are one for each rule of the format. What is wrong with most of them
// is wrong also with a right sum.
var damages = []damage{
	{"good", func(_ *maker, text []byte) []byte { return text }},
	{"empty", becomes("")},
	{"unflushed", becomes(strings.Repeat("\x00", 100))},
	{"bom", func(_ *maker, text []byte) []byte { return append([]byte("\ufeff"), text...) }},
	{"torn", func(_ *maker, text []byte) []byte { return text[:len(text)/2] }},
	{"trailing", func(_ *maker, text []byte) []byte { return append(text, "{}\n"...) }},
	{"spaced", func(_ *maker, text []byte) []byte { return sealed(append(text, " \n\t"...)) }},
	{"listed", becomes("[]\n")},
	{"bare", becomes(`{"bare":1}` + "\n")},
	{"twice", resealed(`"twice":1`, `"twice":1,"twice":1`)},
	{"cased", resealed(`"cased":1`, `"cased":1,"Cased":1`)},
	{"folded", resealed(`"folded":1`, "\"folded\":1,\"\u017f\":1,\"S\":1")},
	{"nested", resealed(`"nested":1`, `"nested":{"A":1,"a":1}`)}, // only names beside fields may not differ in case alone
	{"deeper", resealed(`"deeper":1`, `"deeper":{"a":1,"a":1}`)},
	{"latin", resealed(`"latin":1`, "\"latin\":\"\xe9\"")},
	{"lone", resealed(`"lone":1`, `"lone":"\ud83d"`)},
	{"nan", resealed(`"nan":1`, `"nan":NaN`)},
	{"zeros", resealed(`"zeros":1`, `"zeros":01`)},
	{"comma", resealed(`"comma":1`, `"comma":1,`)},
	{"sixtyfour", resealed(`"sixtyfour":1`, `"sixtyfour":`+strings.Repeat("[", 63)+strings.Repeat("]", 63))},
	{"sixtyfive", resealed(`"sixtyfive":1`, `"sixtyfive":`+strings.Repeat("[", 64)+strings.Repeat("]", 64))},
	{"formatless", resealed(`"format":1,`, ``)},
	{"nonceless", resealed(`"revision":1`, `"revision":1e0`)},
	{"counted", resealed(`"epoch":1786439564031000`, `"epoch":9007199254740992`)},
	{"local", resealed(`:45.031Z`, `:45.031+00:00`)},
	{"padded", resealed(`:45.031Z`, `:45.0310Z`)},
	{"unsummed", replaced(`"sum":"`, `"sum":"0`)},
	{"changed", replaced(`"changed":1`, `"changed":2`)},
	{"flipped", replaced("\n}\n", "\n}\r")},
	{"other", func(m *maker, _ []byte) []byte { return m.commit("good") }},
	{"away", resealed(vectorState, strings.ToUpper(vectorState[:10])+strings.Repeat("x", 16))},
	{"reordered", func(_ *maker, text []byte) []byte {
		return sealed(edited(text, `"format":1,"owner":"reordered",`, ` "owner" : "reordered" , "format":1, `))
	}},
}

func damagedOwners() map[string]schema.Owner {
	owners := map[string]schema.Owner{}
	for _, name := range append([]string{"gone", "folder"}, namesOf(damages)...) {
		owners[name] = owns(map[string]schema.Field{name: plain(schema.TypeJSON)})
	}
	return owners
}

func namesOf(all []damage) (names []string) {
	for _, d := range all {
		names = append(names, d.owner)
	}
	return names
}

func makeDamaged(m *maker) {
	for _, d := range damages {
		m.save(d.owner+".json", d.of(m, m.commit(d.owner, set(d.owner, "1"))))
	}
	m.save("folder.json/.keep", nil)
}
