package bench

import "fmt"

// turnOfCommits is how many commits a kind does in a turn: few, so that all
// kinds of a round meet the same disk.
const turnOfCommits = 8

func commitKinds() []kind {
	kinds := []kind{
		{name: "bare", lacks: "lock, reading, encoding", open: openBareSidecar},
		{name: "bare-plain", lacks: "lock, reading, encoding", open: openBarePlain},
		{name: "freehold", open: openTyped},
		{name: "freehold-young", open: openYoung},
		{name: "freehold-patch", open: openPatch},
		{name: "freehold-hook", open: openHook},
		{name: "flock+rename", open: openFlocked},
		{name: "renameio", lacks: "lock, sync of the directory", open: openRenameio},
		{name: "lockedfile", lacks: "any sync, atomicity", open: openLockedfile},
		{name: "lockedfile-fsync", lacks: "atomicity", open: openLockedfileSynced},
		{name: "bbolt", lacks: "other processes", open: openBoltCommit},
	}
	for _, driver := range sqliteDrivers {
		kinds = append(kinds, kind{name: "sqlite-" + driver.short, open: driver.openCommit})
	}
	for i := range kinds {
		kinds[i].turn = turnOfCommits
	}
	return kinds
}

// want is the check that every contestant ends with.
func want(found, last int64) error {
	if found != last {
		return fmt.Errorf("the last value written was %d and a fresh look finds %d", last, found)
	}
	return nil
}
