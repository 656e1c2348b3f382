package declare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
	"github.com/go-json-experiment/json/jsontext"
)

// An identifier is a name in a generated package, with its origin.
type identifier struct {
	name string
	role string           // "field total_usd", "the generated method Raw"
	at   jsontext.Pointer // empty if the generator itself gave it
	fix  string           // how its user gives it another name
}

// A scope is where identifiers must differ: a package, or a type's methods.
type scope map[string]identifier

// The names that generated code has under every declaration. Raw leads from the
// typed view to everything else that a view knows.
var (
	viewPackage = []string{"Declaration", "Open", "Reader", "View"}
	testPackage = []string{"Setting", "State", "View"}
	viewMethods = []string{"Raw"}
	txMethods   = []string{"IfVersion"}

	writerMethods = []string{"Close", "Update"}

	recordMethods = []string{"JSONMembers"}
)

// vetMethods are the methods that go vet wants in one form only, which is not
// that of an accessor.
var vetMethods = []string{
	"GobDecode", "GobEncode", "MarshalJSON", "MarshalXML", "ReadByte", "ReadRune",
	"UnmarshalJSON", "UnmarshalXML", "UnreadByte", "UnreadRune", "WriteByte",
}

// add adds generated names to s; format makes the role of each.
func (s scope) add(format string, names []string) scope {
	for _, name := range names {
		s[name] = identifier{name: name, role: fmt.Sprintf(format, name)}
	}
	return s
}

// A namer collects the identifiers of one file.
type namer struct {
	*fileReader
	view, pkg, test scope            // methods of the view; the view package; the test package
	entries         map[string]scope // the methods of maps' entries, by map
	members         map[string]bool  // the members of maps that have names
}

// checkIdentifiers reports declared names that become one Go identifier where
// both would be in one scope. All names are final here: a name that clashes is
// decided after initialisms and "go:" have had their say.
func (f *fileReader) checkIdentifiers(d *schema.Declaration) {
	n := namer{
		fileReader: f,
		view:       scope{}.add("the method View.%s of the generated view", viewMethods).add(vetMethod, vetMethods),
		test:       scope{}.add("%s in the generated test package", testPackage),
		pkg:        scope{}.add("%s in the generated view package", viewPackage),
		entries:    map[string]scope{},
		members:    map[string]bool{},
	}
	first := map[string]schema.Field{} // by name
	for _, owner := range f.names["/owners"] {
		writer := scope{}.add("the method Writer.%s of the generated writer", writerMethods).add(vetMethod, vetMethods)
		commit := scope{}.add("the method Tx.%s of the generated writer", txMethods).add(vetMethod, vetMethods)
		for _, name := range f.names[schema.PointerTo(owner, "")+"/fields"] {
			at, spec := schema.PointerTo(owner, name), d.Owners[owner].Fields[name]
			other, taken := first[name]
			if !schema.ValidName(name) || taken && !(other.Shareable() && spec.Shareable()) { // reported already
				continue
			}
			first[name] = spec
			id := n.identify(at, GoName(name, spec), "field "+name)
			tx := commit
			if spec.Kind.OnWriter() {
				tx = writer
			}
			switch {
			case n.entries[name] != nil: // another owner's part of the same map
				if n.claim(id, tx) {
					n.claimEntry(at, spec, id)
				}
			case n.claim(id, n.view, tx, n.test) && n.claim(id.as("Field"+id.name, "the constant of field "+name), n.pkg):
				n.claimTypes(at, spec, id)
				n.claimSeen(spec, id)
			}
		}
	}
}

// identify returns the identifier of the part at a place.
func (n *namer) identify(at jsontext.Pointer, name, role string) identifier {
	id := identifier{name, role, at, `give one of them another name with "go:"`}
	if n.has(at + "/go") {
		id.at += "/go"
	}
	return id
}

const vetMethod = "the method %s that go vet wants in another form"

// claimTypes adds the names that the view package declares for a part beside
// its accessor. id is the root of the name of its type.
func (n *namer) claimTypes(at jsontext.Pointer, spec schema.Field, id identifier) {
	element := func(below jsontext.Pointer, of schema.Field) {
		part := n.identify(below, GoElementName(id.name, of), "the element of "+id.role)
		n.claimTypes(below, of, part)
	}
	switch {
	case spec.Shareable():
		n.entries[at.LastToken()] = scope{}.add(vetMethod, vetMethods)
		if n.claim(id.as(GoEntryName(id.name), "the type of an entry of "+id.role), n.pkg) {
			n.claimEntry(at, spec, id)
		}
	case spec.Value != nil:
		element(at+"/value", *spec.Value)
	case spec.Of != nil:
		element(at+"/of", *spec.Of)
	case spec.Type == schema.TypeEnum:
		n.claimEnum(at, spec, id)
	case spec.Type == schema.TypeRecord:
		n.claimRecord(at, spec, id)
	}
}

// claimSeen adds the names generated for a field that depends on others.
func (n *namer) claimSeen(spec schema.Field, id identifier) {
	if !spec.Dependent() {
		return
	}
	n.claim(id.as(GoSeenName(id.name), "the type of an observation for "+id.role), n.pkg)
	n.claim(id.as(GoObserveName(id.name), "the method that observes for "+id.role), n.view)
	n.claim(id.as(GoBeforeName(id.name), "the setting of "+id.role+" that was overtaken"), n.test)
	n.claim(id.as(GoUnobservedName(id.name), "the setting of "+id.role+" that was not observed"), n.test)
}

// claimEntry adds the members that one owner declares of a map.
func (n *namer) claimEntry(at jsontext.Pointer, spec schema.Field, id identifier) {
	n.eachMember(at+"/record", spec.Record, func(at jsontext.Pointer, name string, member schema.Field) {
		field := at.Parent().Parent().LastToken()
		if n.members[field+"/"+name] { // another owner's, and reported already
			return
		}
		n.members[field+"/"+name] = true
		accessor := n.identify(at, GoName(name, member), "member "+name+" of "+id.role)
		typ := accessor.as(GoMemberName(id.name, name, member), accessor.role)
		if n.claim(accessor, n.entries[field]) && n.claim(typ, n.test) {
			n.claimTypes(at, member, typ)
		}
	})
}

// claimRecord adds a record's type and its members.
func (n *namer) claimRecord(at jsontext.Pointer, spec schema.Field, id identifier) {
	if !n.claim(id.as(id.name, "the type of "+id.role), n.pkg) {
		return
	}
	fields := scope{}.add("the method %s of a generated record", recordMethods)
	n.eachMember(at+"/fields", spec.Fields, func(at jsontext.Pointer, name string, member schema.Field) {
		accessor := n.identify(at, GoName(name, member), "member "+name+" of "+id.role)
		if n.claim(accessor, fields) {
			n.claimTypes(at, member, accessor.as(GoMemberName(id.name, name, member), accessor.role))
		}
	})
}

// eachMember calls each with the members that have good names.
func (n *namer) eachMember(at jsontext.Pointer, members map[string]schema.Field, each func(at jsontext.Pointer, name string, member schema.Field)) {
	for _, name := range n.names[at] {
		if schema.ValidName(name) {
			each(at.AppendToken(name), name, members[name])
		}
	}
}

func (id identifier) as(name, role string) identifier {
	id.name, id.role = name, role
	return id
}

// claimEnum adds the names that an enum declares in the view package.
func (n *namer) claimEnum(at jsontext.Pointer, spec schema.Field, id identifier) {
	if len(spec.Values) == 0 ||
		!n.claim(id.as(id.name, "the type of "+id.role), n.pkg) ||
		!n.claim(id.as("Parse"+id.name, "the parser of "+id.role), n.pkg) {
		return
	}
	for i, value := range spec.Values {
		place := (at + "/values").AppendToken(n.names[at+"/values"][i])
		n.claim(identifier{GoValueName(id.name, value), "the value " + value + " of " + id.role, place, "spell one of them differently"}, n.pkg)
	}
}

// claim adds id to the scopes, or reports the first in which its name is
// taken. Where fields clash in many, one problem is enough.
func (f *fileReader) claim(id identifier, scopes ...scope) bool {
	for _, s := range scopes {
		other, ok := s[id.name]
		switch {
		case !ok:
			continue
		case other.at == "":
			f.report(id.at, "%s becomes %s in Go, which is %s: %s", id.role, id.name, other.role, strings.Replace(id.fix, "one of them", "it", 1))
		default:
			f.report(id.at, "%s becomes %s in Go, and so does %s at %s: %s", id.role, id.name, other.role, other.at, id.fix)
		}
		return false
	}
	for _, s := range scopes {
		s[id.name] = id
	}
	return true
}

// GoName returns the name that the field called name has in generated code:
// the one that it declares, or else one made by Go's rules, TotalUSD for
// total_usd.
func GoName(name string, f schema.Field) string {
	if f.Go != "" {
		return f.Go
	}
	return camel(name, "_")
}

// GoValueName returns the name of the generated function that returns a value
// of the enum whose Go type is called enum: RestartReasonPaneFrozen for the
// value pane-frozen of RestartReason.
func GoValueName(enum, value string) string { return enum + camel(value, "_-.") }

// GoElementName returns the name of the Go type of a part without a name of
// its own, an element of a list or the value of a map, if that needs a type:
// the one that it declares, or else the whole's.
func GoElementName(whole string, f schema.Field) string {
	if f.Go != "" {
		return f.Go
	}
	return whole
}

// GoMemberName returns the name of the Go type of the member called name of
// the record or the map whose Go name is whole, if that needs a type, and the
// name of a map's member in the generated test package.
func GoMemberName(whole, name string, f schema.Field) string { return whole + GoName(name, f) }

// GoEntryName returns the name of the Go type of an entry of the map with the Go
// name whole.
func GoEntryName(whole string) string { return whole + "Entry" }

// GoSeenName returns the name of the Go type of an observation of the dependencies
// of a field with the Go name field, GoObserveName that of the view's method that
// returns one.
func GoSeenName(field string) string    { return field + "Seen" }
func GoObserveName(field string) string { return "Observe" + field }

// GoBeforeName and GoUnobservedName return the names, in the generated test
// package, of the settings of a dependent field that was overtaken and of one
// that was written without an observation.
func GoBeforeName(field string) string     { return field + "Before" }
func GoUnobservedName(field string) string { return field + "Unobserved" }

// camel joins the words of text, which the separators separate.
func camel(text, separators string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(separators, c) }) {
		b.WriteString(goWord(word))
	}
	return b.String()
}

// goWord returns a word as it stands in the middle of a Go name: "Id" is "ID",
// also in "ids" and "id2".
func goWord(word string) string {
	if special, ok := mixedCase[word]; ok {
		return special
	}
	letters := strings.TrimRight(word, "0123456789")
	digits := word[len(letters):]
	if initialism(letters) {
		return strings.ToUpper(letters) + digits
	}
	if one, plural := strings.CutSuffix(letters, "s"); plural && initialism(one) {
		return strings.ToUpper(one) + "s" + digits
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func initialism(word string) bool {
	_, ok := slices.BinarySearch(initialisms, word)
	return ok
}

// mixedCase are the words that Go writes in a case of their own.
var mixedCase = map[string]string{"ipv4": "IPv4", "ipv6": "IPv6", "oauth": "OAuth"}

// initialisms are the words that Go names have in capitals only, sorted: those
// that linters know, and others that the fields of a state are likely to use.
var initialisms = []string{
	"acl", "ai", "amqp", "api", "ascii", "aws", "cidr", "cli", "cpu", "crc", "css", "csv", "cwd",
	"db", "dns", "eof", "eur", "fd", "fifo", "fps", "gbp", "gcp", "gid", "gpu", "grpc", "guid", "hmac", "html", "http", "https",
	"id", "io", "ip", "jpg", "json", "jwt", "kpi", "lan", "llm", "lru", "mac", "mcp", "md", "mime", "mtu", "nfs",
	"oom", "os", "pdf", "pgid", "pid", "png", "ppid", "qps", "ram", "rgb", "rpc", "rpm", "rss", "rtp", "rtt",
	"sdk", "sha", "sip", "sla", "slo", "smtp", "sql", "sse", "ssh", "ssl", "svg", "tcp", "tls", "toml", "ts", "ttl", "tty",
	"udp", "ui", "uid", "uri", "url", "usd", "utc", "utf", "uuid", "vcs", "vm", "vpn", "wal", "wan", "xml", "xmpp", "xsrf", "xss",
	"yaml", "zip",
}
