package statedir

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// holder returns the id of the process that holds l's lock, or 0 if the
// kernel does not say. It is for messages: by the time anybody reads it, it
// may be wrong.
func (l *Lock) holder() int {
	var st unix.Stat_t
	if unix.Fstat(int(l.file.Fd()), &st) != nil {
		return 0
	}
	return lockHolder(st.Dev, st.Ino)
}

// lockHolder looks an inode up in /proc/locks, whose lines read
// "1: FLOCK  ADVISORY  WRITE 4242 fe:00:131 0 EOF".
func lockHolder(dev, ino uint64) int {
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer locks.Close()
	want := fmt.Appendf(nil, "%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), ino)
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) < 6 || string(fields[1]) != "FLOCK" || !bytes.Equal(fields[5], want) {
			continue
		}
		pid, _ := strconv.Atoi(string(fields[4]))
		return max(pid, 0)
	}
	return 0
}
