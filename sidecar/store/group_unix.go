//go:build unix

package store

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// etc is where a system keeps its users and groups.
const etc = "/etc"

// mostAccounts bounds what is read of such a file.
const mostAccounts = 4 << 20

// privateGroup reports whether the group gid is the private one of the user
// uid, in which nobody else is. Where each user has such a group, it may write
// by default (umask 002), and a home's directories would otherwise all be
// refused. It counts as private if the files in dir say that the user's own
// group has the user's name, no other member, and is nobody else's own group.
// What another source than these files says is not asked: it takes a program,
// or cgo, to ask it. A user or group whom only such a source knows has no
// private group here.
func privateGroup(dir string, uid, gid uint32) bool {
	name, owners := "", 0
	for fields := range accounts(filepath.Join(dir, "passwd"), 4) {
		own := fields[3] == strconv.FormatUint(uint64(gid), 10)
		if own {
			owners++
		}
		if own && fields[2] == strconv.FormatUint(uint64(uid), 10) {
			name = fields[0]
		}
	}
	if name == "" || owners != 1 {
		return false
	}
	groups := 0
	for fields := range accounts(filepath.Join(dir, "group"), 4) {
		if fields[2] != strconv.FormatUint(uint64(gid), 10) {
			continue
		}
		groups++
		others := slices.DeleteFunc(strings.Split(fields[3], ","), func(member string) bool { return member == "" || member == name })
		if fields[0] != name || len(others) > 0 {
			return false
		}
	}
	return groups == 1
}

// accounts yields the lines of a file of users or groups that have at least n
// fields. One that is unreadable or too large has none.
func accounts(path string, n int) func(yield func(fields []string) bool) {
	return func(yield func([]string) bool) {
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, mostAccounts+1))
		if err != nil || len(text) > mostAccounts {
			return
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
			if len(fields) >= n && !yield(fields) {
				return
			}
		}
	}
}
