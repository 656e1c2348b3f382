package declare

import (
	"slices"
	"strings"

	"github.com/freehold-dev/freehold/schema"
)

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
