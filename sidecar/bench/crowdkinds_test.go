package bench

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// crowdKinds returns all ways to keep a state of several processes. Those whose
// name ends in "-own" give each owner a file of its own, as freehold does.
func crowdKinds() []crowdKind {
	kinds := []crowdKind{
		{name: "bare-own", lacks: "lock, reading, encoding", create: createBare, open: addBare, total: totalBare},
		{name: "freehold", create: createFreehold, open: addFreehold, total: totalFreehold},
		jsonCrowd("flock+rename", "", openFlockedFile, false),
		jsonCrowd("flock+rename-own", "", openFlockedFile, true),
		jsonCrowd("renameio", "lock: LOSES counts; sync of the directory", openRenamedFile, false),
		jsonCrowd("lockedfile", "any sync, atomicity", openTransformedFile, false),
		jsonCrowd("lockedfile-fsync", "atomicity", openSyncedFile, false),
		jsonCrowd("lockedfile-fsync-own", "atomicity", openSyncedFile, true),
		{name: "flock+bbolt", create: createBolt, open: addBolt, total: totalBolt},
	}
	for _, d := range sqliteDrivers {
		kinds = append(kinds, crowdKind{name: "sqlite-" + d.short, create: d.createCrowd, open: d.add, total: d.total})
	}
	return kinds
}

// turnOfCrowd is how many commits each process makes in a turn.
const turnOfCrowd = 16

// ownersKinds are crowds of four processes, each with an owner of its own.
func ownersKinds() []kind { return crowds(owners[:4], func(crowdKind) bool { return true }) }

// counterKinds are crowds of eight processes of one owner.
func counterKinds() []kind {
	return crowds(slices.Repeat(owners[:1], 8), func(k crowdKind) bool { return !strings.HasSuffix(k.name, "-own") })
}

func crowds(owners []string, plays func(crowdKind) bool) (kinds []kind) {
	for _, k := range crowdKinds() {
		if !plays(k) {
			continue
		}
		kinds = append(kinds, kind{name: k.name, lacks: k.lacks, turn: 1, holds: turnOfCrowd * len(owners), open: func(dir string) (contestant, error) {
			return openCrowd(k, dir, owners, turnOfCrowd)
		}})
	}
	return kinds
}

func nothing() error { return nil }

// jsonCrowd is a kind that reads and writes JSON documents of all owners, or
// with own of one owner each.
func jsonCrowd(name, lacks string, open func(jsonFile) (contestant, error), own bool) crowdKind {
	path := func(dir, owner string) string {
		if own {
			return filepath.Join(dir, owner, "state.json")
		}
		return filepath.Join(dir, "state.json")
	}
	k := crowdKind{name: name, lacks: lacks, loses: name == "renameio"}
	k.create = func(dir string, owners []string) error {
		documents := map[string]map[string]state{}
		for _, owner := range owners {
			file := path(dir, owner)
			if documents[file] == nil {
				documents[file] = map[string]state{}
			}
			documents[file][owner] = sample()
		}
		for file, all := range documents {
			text, err := json.Marshal(all)
			if err != nil {
				return err
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)); err != nil {
				return err
			}
		}
		return nil
	}
	k.open = func(dir, owner string) (add, finish func() error, err error) {
		c, err := open(jsonFile{path: path(dir, owner), edit: func(text []byte, _ int64) ([]byte, error) {
			var all map[string]*state
			if err := json.Unmarshal(text, &all); err != nil {
				return nil, err
			}
			all[owner].TokensIn++
			all[owner].UpdatedAt = time.Now().UTC()
			return json.Marshal(all)
		}})
		return func() error { return c.do(0) }, nothing, err
	}
	k.total = func(dir string, owners []string) (sum int64, err error) {
		for _, owner := range owners {
			var all map[string]state
			text, err := os.ReadFile(path(dir, owner))
			if err := errors.Join(err, json.Unmarshal(text, &all)); err != nil {
				return 0, err
			}
			sum += all[owner].TokensIn - firstValue
		}
		return sum, nil
	}
	return k
}
