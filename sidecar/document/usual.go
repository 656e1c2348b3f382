package document

import (
	"bytes"

	"github.com/freehold-dev/freehold/schema"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
)

// usual reads text if it stands there byte for byte as this release lays a
// sidecar out, without unknown members, which takes half the time of
// [scanner.document]. It returns the offset of the sum's digits, or false for
// everything else, valid or not; FuzzUsualAgrees holds the two together.
func usual(text []byte) (d *Document, sum int, ok bool) {
	if len(text) > MaxSize {
		return nil, 0, false
	}
	d, c := new(Document), &cursor{text: text, ok: true}
	c.skip("{\n\"$sidecar\":{\"format\":1,\"owner\":\"")
	d.Owner = string(c.plain())
	c.skip(`,"state":"`)
	d.State = string(c.plain())
	c.skip(`,"epoch":`)
	d.Version.Epoch = c.count()
	c.skip(`,"nonce":"`)
	d.Version.Nonce = string(c.nonce())
	c.skip(`,"revision":`)
	d.Version.Revision = c.count()
	c.skip(`,"written_at":"`)
	d.WrittenAt = c.instant()
	c.skip(`,"writer":{"program":"`)
	d.Writer.Program = string(c.plain())
	c.skip(`,"identity":{`)
	d.Writer.Identity = c.identity()
	c.skip(`}},"fields":{`)
	d.fields = c.entries()
	c.skip(`},`)
	if c.skipIf(`"folded":[`) {
		d.folded = c.ids(MaxFolded)
		c.skip("],")
		c.ok = c.ok && len(d.folded) > 0
	}
	c.skip(`"recent":[`)
	d.recent = c.ids(MaxRecent)
	c.skip(`],"sum":"`)
	sum = c.pos
	digits := c.plain()
	c.skip("}")
	d.members = c.members(len(d.fields))
	c.ok = c.ok && schema.ValidName(d.Owner) && d.State != "" && isSum(digits) && c.pos == len(text)
	return d, sum, c.ok
}

// identity reads what [Document.appendIdentity] writes.
func (c *cursor) identity() (id process.Identity) {
	if c.skipIf(`"boot":"`) {
		id.Boot = string(c.plain())
		c.ok = c.ok && id.Boot != ""
		c.skip(",")
	}
	id.PIDNamespace = c.nonzero(`"pid_ns":`, ",")
	c.skip(`"pid":`)
	id.PID = c.pid()
	id.Start = c.nonzero(`,"start":`, "")
	c.skip(`,"nonce":"`)
	id.Nonce = string(c.plain())
	id.PIDFD = c.nonzero(`,"pidfd":`, "")
	return id
}

// nonzero reads a number that is left out where it is zero.
func (c *cursor) nonzero(before, after string) uint64 {
	if !c.skipIf(before) {
		return 0
	}
	n := c.count()
	c.ok = c.ok && n != 0
	c.skip(after)
	return n
}

func (c *cursor) entries() []entry {
	entries := make([]entry, 0, 16)
	for c.ok && c.skipIf(`"`) {
		start := c.pos - 1
		name := c.plain()
		key := c.since(start)
		c.skip(":")
		start = c.pos
		c.entry()
		observed := c.observation()
		c.skip("}")
		entries = append(entries, entry{key: key, raw: c.since(start), parts: parts{observed: observed}})
		c.ok = c.ok && schema.ValidName(string(name))
		if !c.skipIf(",") {
			break
		}
		c.ok = c.ok && bytes.HasPrefix(c.rest(), []byte{'"'})
	}
	c.distinct(len(entries), func(i int) []byte { return entries[i].key })
	return entries
}

// entry reads what [written.append] writes, up to what only some fields have.
func (c *cursor) entry() (parts entryParts) {
	c.skip(`{"version":"`)
	var ok bool
	parts.version, ok = snapshotVersion(c.plain())
	c.ok = c.ok && ok
	c.skip(`,"at":"`)
	parts.at = c.instant()
	c.skip(`,"program":"`)
	parts.program = c.plain()
	c.skip(`,"pid":`)
	parts.pid = c.pid()
	return parts
}

func (c *cursor) ids(most int) ids {
	end := bytes.IndexByte(c.rest(), ']')
	if end < 0 {
		c.ok = false
		return nil
	}
	start := c.pos
	c.pos += end
	list := ids(c.since(start))
	c.ok = c.ok && list.canonical(most)
	return list
}

// members reads the fields, one on a line.
func (c *cursor) members(expected int) []member {
	members := make([]member, 0, expected)
	for c.ok && c.skipIf(",\n\"") {
		start := c.pos - 1
		name := c.plain()
		key := c.since(start)
		c.skip(":")
		start = c.pos
		members = append(members, member{key, c.scalar(), start})
		c.ok = c.ok && schema.ValidName(string(name))
	}
	c.skip("\n}\n")
	c.distinct(len(members), func(i int) []byte { return members[i].key })
	return members
}
