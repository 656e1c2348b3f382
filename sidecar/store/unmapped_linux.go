package store

import (
	"os"
	"strconv"
	"strings"
)

// unmapped reports whether uid is what the kernel shows, in a user namespace
// such as a sandbox is, in the place of every user who is not of it: root of
// the machine too. Who really owns the file cannot be told then.
func unmapped(uid uint32) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.FormatUint(uint64(uid), 10) {
		return false
	}
	ids, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(ids)), " ") != "0 0 4294967295" // all users, as outside of sandboxes
}
