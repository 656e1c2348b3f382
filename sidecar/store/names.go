package store

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freehold-dev/freehold/schema"
)

// Sidecar names the file of an owner.
func Sidecar(owner string) string { return owner + ".json" }

// OwnerLock names the lock that every commit of an owner holds.
func OwnerLock(owner string) string { return owner + commitLock }

const commitLock = ".lock"

// OwnerLease names the lock that the live process of an exclusive owner holds.
func OwnerLease(owner string) string { return owner + ".lease" }

// OwnerFence names the lock that keeps successors from the lease.
func OwnerFence(owner string) string { return owner + ".fence" }

// OwnerPending names the directory in .freehold of the patches that processes of
// an owner have deferred.
func OwnerPending(owner string) string { return owner + ".pending" }

// The most that is read of one such directory at a time: twice the bounds of
// writers, since several may look for room at once. The rest is foreign.
const (
	MostPending      = 8192     // files
	MostPendingBytes = 16 << 20 // of them together
)

// ClaimFile names the file of a once field, relative to the state directory.
func ClaimFile(owner, field string) string { return claimDir(owner) + "/" + field }

func claimDir(owner string) string { return metaName + "/" + claimsName + "/" + owner }

const (
	// metaName is the directory of Freehold's own files in a state directory.
	metaName   = ".freehold"
	claimsName = "claims"
)

// OwnerRecord names the file in .freehold that describes the holder of the lease
// of an exclusive owner. It is for people and for retiring, never a lock.
func OwnerRecord(owner string) string { return owner + ".lease.json" }

// Kept names the copy of owner's sidecar that the upgrade id leaves in the
// quarantine.
func Kept(owner, id string) string { return Sidecar(owner) + "." + id }

// Folders returns the directories, relative to the state directory, in which
// files come and go that a view of d's state reads.
func Folders(d *schema.Declaration) []string {
	folders := []string{".", metaName}
	for _, owner := range d.OwnerNames() {
		if d.Owners[owner].Claims() {
			folders = append(folders, claimDir(owner))
		}
		if d.Owners[owner].Defers() {
			folders = append(folders, metaName+"/"+OwnerPending(owner))
		}
	}
	return folders
}

// ShellWord returns text as a shell takes it for one word and nothing else, for
// the command lines that messages tell people to run. It has graphic characters
// only, so that a terminal shows it as it is; but of a text that has others,
// line ends at its end get lost, as they do in every shell.
func ShellWord(text string) string {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@%:,=~", r))
	}
	if text != "" && text[0] != '~' && strings.IndexFunc(text, odd) < 0 {
		return text
	}
	if strings.ContainsFunc(text, ungraphic) {
		return `"$(printf '` + octal(text) + `')"`
	}
	return singleQuoted(text)
}

func singleQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func ungraphic(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }

// octal returns the format of a printf that writes text. Not every shell has
// another way to write what is not graphic.
func octal(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		part := text[i : i+size]
		i += size
		if ungraphic(r) || strings.ContainsRune("\\%-\"'`", r) { // which printf, or who looks for quotes, would read
			for _, c := range []byte(part) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
			continue
		}
		b.WriteString(part)
	}
	return b.String()
}
