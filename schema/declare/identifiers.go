package declare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

// An identifier is a name in a generated package, with what gave it.
type identifier struct {
	name string
	what string // "field total_usd", "the generated method Raw"
	at   place  // zero if the generator itself gave it
	fix  string // how its user gives it another name
}

// A scope is where identifiers must differ: a package, or a type's methods.
type scope map[string]identifier

// The names that generated code has, whatever is declared. Raw leads from the
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

// add adds generated names to s; what says of each what it is.
func (s scope) add(what string, names []string) scope {
	for _, name := range names {
		s[name] = identifier{name: name, what: fmt.Sprintf(what, name)}
	}
	return s
}

// A namer collects the identifiers of one file.
type namer struct {
	*fileReader
	view, pkg, test scope            // methods of the view; the view package; the test package
	entries         map[string]scope // the methods of maps' entries, by map
}

// checkIdentifiers reports declared names that become one Go identifier where
// both would be in one scope. All names are final here: what clashes is
// decided after initialisms and "go:" have had their say.
func (f *fileReader) checkIdentifiers() {
	n := namer{
		fileReader: f,
		view:       scope{}.add("the method View.%s of the generated view", viewMethods).add(vetMethod, vetMethods),
		test:       scope{}.add("%s in the generated test package", testPackage),
		pkg:        scope{}.add("%s in the generated view package", viewPackage),
		entries:    map[string]scope{},
	}
	for _, o := range f.owners {
		writer := scope{}.add("the method Writer.%s of the generated writer", writerMethods).add(vetMethod, vetMethods)
		commit := scope{}.add("the method Tx.%s of the generated writer", txMethods).add(vetMethod, vetMethods)
		for _, field := range o.fields {
			id := identifier{GoName(field.name, field.field), "field " + field.name, field.goAt, `give one of them another name with "go:"`}
			tx := commit
			if field.field.Kind.OnWriter() {
				tx = writer
			}
			switch {
			case n.entries[field.name] != nil: // another owner's part of the same map
				if n.claim(id, tx) {
					n.claimEntry(field, id)
				}
			case n.claim(id, n.view, tx, n.test) && n.claim(id.as("Field"+id.name, "the constant of field "+field.name), n.pkg):
				n.claimTypes(field, id)
				n.claimSeen(field, id)
			}
		}
	}
}

const vetMethod = "the method %s that go vet wants in another form"

// claimTypes adds what the view package declares for a field, or a part of
// one, beside its accessor. id is what its type is called after.
func (n *namer) claimTypes(field fieldEntry, id identifier) {
	switch f := field.field; {
	case f.Kind == schema.Map && f.Value == nil:
		n.entries[field.name] = scope{}.add(vetMethod, vetMethods)
		if n.claim(id.as(GoEntryName(id.name), "the type of an entry of "+id.what), n.pkg) {
			n.claimEntry(field, id)
		}
	case field.element != nil:
		element := id.as(GoElementName(id.name, field.element.field), "the element of "+id.what)
		element.at = field.element.goAt
		n.claimTypes(*field.element, element)
	case f.Type == schema.TypeEnum:
		n.claimEnum(field, id)
	case f.Type == schema.TypeRecord:
		n.claimRecord(field, id)
	}
}

// claimSeen adds what is declared for a field that depends on others.
func (n *namer) claimSeen(field fieldEntry, id identifier) {
	if !field.field.Dependent() {
		return
	}
	n.claim(id.as(GoSeenName(id.name), "the type of what was seen for "+id.what), n.pkg)
	n.claim(id.as(GoObserveName(id.name), "the method that observes for "+id.what), n.view)
	n.claim(id.as(GoBeforeName(id.name), "the setting of "+id.what+" that was overtaken"), n.test)
	n.claim(id.as(GoUnobservedName(id.name), "the setting of "+id.what+" that was not observed"), n.test)
}

// claimEntry adds the members that one owner declares of a map.
func (n *namer) claimEntry(field fieldEntry, id identifier) {
	for _, m := range field.members {
		member := identifier{GoName(m.name, m.field), "member " + m.name + " of " + id.what, m.goAt, id.fix}
		typ := member.as(GoMemberName(id.name, m.name, m.field), member.what)
		if n.claim(member, n.entries[field.name]) && n.claim(typ, n.test) {
			n.claimTypes(m, typ)
		}
	}
}

// claimRecord adds a record's type and its members.
func (n *namer) claimRecord(field fieldEntry, id identifier) {
	if !n.claim(id.as(id.name, "the type of "+id.what), n.pkg) {
		return
	}
	fields := scope{}.add("the method %s of a generated record", recordMethods)
	for _, m := range field.members {
		member := identifier{GoName(m.name, m.field), "member " + m.name + " of " + id.what, m.goAt, id.fix}
		if n.claim(member, fields) {
			n.claimTypes(m, member.as(GoMemberName(id.name, m.name, m.field), member.what))
		}
	}
}

func (id identifier) as(name, what string) identifier {
	id.name, id.what = name, what
	return id
}

// claimEnum adds what an enum declares in the view package.
func (n *namer) claimEnum(field fieldEntry, id identifier) {
	if len(field.field.Values) == 0 ||
		!n.claim(id.as(id.name, "the type of "+id.what), n.pkg) ||
		!n.claim(id.as("Parse"+id.name, "the parser of "+id.what), n.pkg) {
		return
	}
	for i, value := range field.field.Values {
		n.claim(identifier{
			GoValueName(id.name, value), "the value " + value + " of " + id.what, field.values[i],
			"spell one of them differently",
		}, n.pkg)
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
		case other.at == place{}:
			f.report(id.at, "%s becomes %s in Go, which is %s: %s", id.what, id.name, other.what, strings.Replace(id.fix, "one of them", "it", 1))
		default:
			f.report(id.at, "%s becomes %s in Go, and so does %s at %s: %s", id.what, id.name, other.what, f.cite(other.at), id.fix)
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
// name of what concerns a map's member in the generated test package.
func GoMemberName(whole, name string, f schema.Field) string { return whole + GoName(name, f) }

// GoEntryName returns the name of the Go type of what the map whose Go name is
// whole has at a key.
func GoEntryName(whole string) string { return whole + "Entry" }

// GoSeenName returns the name of the Go type of what was seen of what the
// field whose Go name is field depends on, GoObserveName that of the view's
// method that returns one.
func GoSeenName(field string) string    { return field + "Seen" }
func GoObserveName(field string) string { return "Observe" + field }

// GoBeforeName and GoUnobservedName return the names, in the generated test
// package, of the settings of a dependent field that was overtaken and of one
// whose writer did not say what it had seen.
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
