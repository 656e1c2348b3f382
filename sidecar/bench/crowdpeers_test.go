package bench

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
	bolt "go.etcd.io/bbolt"
)

func createBare(dir string, owners []string) error {
	for _, owner := range owners {
		if err := os.MkdirAll(filepath.Join(dir, owner), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// addBare does not read what is there: it can only be alone.
func addBare(dir, owner string) (add, finish func() error, err error) {
	text, err := plain(firstValue)
	if err != nil {
		return nil, nil, err
	}
	b, err := newBare(filepath.Join(dir, owner), text)
	n := int64(firstValue)
	return func() error {
		n++
		return b.do(n)
	}, nothing, err
}

func totalBare(dir string, owners []string) (sum int64, err error) {
	for _, owner := range owners {
		var s state
		text, err := os.ReadFile(filepath.Join(dir, owner, "bare.json"))
		if err := errors.Join(err, json.Unmarshal(text, &s)); err != nil {
			return 0, err
		}
		sum += s.TokensIn - firstValue
	}
	return sum, nil
}

func createBolt(dir string, owners []string) error {
	s, err := openBolt(dir, owners)
	if err != nil {
		return err
	}
	return s.db.Close()
}

// addBolt opens the database for each commit: bbolt locks it for one process,
// and waits for that lock in steps of 50 ms. A lock beside it is waited for
// without.
func addBolt(dir, owner string) (add, finish func() error, err error) {
	lock := flock.New(filepath.Join(dir, "state.lock"))
	return func() (err error) {
		if err := lock.Lock(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, lock.Unlock()) }()
		s, err := reopenBolt(dir)
		if err != nil {
			return err
		}
		err = s.db.Update(func(tx *bolt.Tx) error {
			bucket := tx.Bucket([]byte(owner))
			n, err := strconv.ParseInt(string(bucket.Get([]byte(measured))), 10, 64)
			return errors.Join(err, bucket.Put([]byte(measured), strconv.AppendInt(nil, n+1, 10)))
		})
		return errors.Join(err, s.db.Close())
	}, lock.Close, nil
}

func totalBolt(dir string, owners []string) (sum int64, err error) {
	s, err := reopenBolt(dir)
	if err != nil {
		return 0, err
	}
	defer s.db.Close()
	for _, owner := range owners {
		n, err := s.get(owner)
		if err != nil {
			return 0, err
		}
		sum += n - firstValue
	}
	return sum, nil
}

func (d sqliteDriver) createCrowd(dir string, owners []string) error {
	s, err := d.open(dir, owners)
	if err != nil {
		return err
	}
	return s.close()
}

func (d sqliteDriver) add(dir, owner string) (add, finish func() error, err error) {
	s, err := d.open(dir, nil)
	if err != nil {
		return nil, nil, err
	}
	stmt, err := s.conn.PrepareContext(context.Background(), `UPDATE state SET value = value + 1 WHERE owner = ? AND field = ?`)
	return func() error {
		_, err := stmt.Exec(owner, measured)
		return err
	}, s.close, err
}

func (d sqliteDriver) total(dir string, owners []string) (sum int64, err error) {
	s, err := d.open(dir, nil)
	if err != nil {
		return 0, err
	}
	for _, owner := range owners {
		n, err := s.read(owner)
		if err != nil {
			return 0, errors.Join(err, s.close())
		}
		sum += n - firstValue
	}
	return sum, s.close()
}
