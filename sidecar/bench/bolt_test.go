package bench

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	bolt "go.etcd.io/bbolt"
)

// A boltStore keeps a bucket for each owner and a key for each field. It is
// open all the time, which shuts other processes out.
type boltStore struct {
	path string
	db   *bolt.DB
}

func openBolt(dir string, names []string) (*boltStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s, err := reopenBolt(dir)
	if err != nil {
		return nil, err
	}
	return s, s.db.Update(func(tx *bolt.Tx) error {
		for _, owner := range names {
			if err := fill(tx, owner); err != nil {
				return err
			}
		}
		return nil
	})
}

func reopenBolt(dir string) (*boltStore, error) {
	path := filepath.Join(dir, "state.bolt")
	// The fastest settings that are safe.
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true, FreelistType: bolt.FreelistMapType})
	return &boltStore{path, db}, err
}

func fill(tx *bolt.Tx, owner string) error {
	bucket, err := tx.CreateBucket([]byte(owner))
	if err != nil {
		return err
	}
	fields, values := columns()
	for i, field := range fields {
		text, err := json.Marshal(values[i])
		if err != nil {
			return err
		}
		if err := bucket.Put([]byte(field), text); err != nil {
			return err
		}
	}
	return nil
}

func (s *boltStore) set(owner string, n int64) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(owner)).Put([]byte(measured), strconv.AppendInt(nil, n, 10))
	})
}

func (s *boltStore) get(owner string) (n int64, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		n, err = strconv.ParseInt(string(tx.Bucket([]byte(owner)).Get([]byte(measured))), 10, 64)
		return err
	})
	return n, err
}

// reopen opens the file again, as a later program would.
func (s *boltStore) reopen() (err error) {
	if err := s.db.Close(); err != nil {
		return err
	}
	s.db, err = bolt.Open(s.path, 0o600, &bolt.Options{ReadOnly: true})
	return err
}

type boltCommit struct {
	*boltStore
}

func openBoltCommit(dir string) (contestant, error) {
	s, err := openBolt(dir, owners[:1])
	return boltCommit{boltStore: s}, err
}

func (c boltCommit) do(n int64) error { return c.set(owners[0], n) }

func (c boltCommit) finish(n int64) error {
	if err := c.reopen(); err != nil {
		return err
	}
	found, err := c.get(owners[0])
	return errors.Join(err, c.db.Close(), want(found, n))
}

// decode reads all owners into maps.
func (s *boltStore) decode() (all []map[string]any, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		for _, owner := range owners {
			fields := map[string]any{}
			if err := tx.Bucket([]byte(owner)).ForEach(func(k, text []byte) error {
				var v any
				err := json.Unmarshal(text, &v)
				fields[string(k)] = v
				return err
			}); err != nil {
				return err
			}
			all = append(all, fields)
		}
		return nil
	})
	return all, err
}
