package bench

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"
)

// A sqliteDriver is one way to SQLite. WAL and synchronous=FULL make a commit
// survive power loss with one sync.
type sqliteDriver struct {
	short   string
	name    string // in database/sql
	options string
}

var sqliteDrivers = append(cgoDrivers, sqliteDriver{
	"modernc", "sqlite", "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)",
})

// A sqliteStore keeps one row for each field, on one connection whose
// statements are prepared.
type sqliteStore struct {
	driver sqliteDriver
	path   string
	db     *sql.DB
	conn   *sql.Conn

	set, get, all, version *sql.Stmt
}

const sqliteSchema = `CREATE TABLE IF NOT EXISTS state(owner TEXT NOT NULL, field TEXT NOT NULL, value, written_at INTEGER NOT NULL, PRIMARY KEY(owner, field)) WITHOUT ROWID`

func (d sqliteDriver) open(dir string, names []string) (*sqliteStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &sqliteStore{driver: d, path: filepath.Join(dir, "state.db")}
	if err := s.connect(); err != nil {
		return nil, err
	}
	for _, owner := range names {
		if err := s.fill(owner); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *sqliteStore) connect() (err error) {
	ctx := context.Background()
	if s.db, err = sql.Open(s.driver.name, "file:"+s.path+s.driver.options); err != nil {
		return err
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	if _, err := s.conn.ExecContext(ctx, sqliteSchema); err != nil {
		return err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.set, `UPDATE state SET value = ?, written_at = ? WHERE owner = ? AND field = ?`},
		{&s.get, `SELECT value FROM state WHERE owner = ? AND field = ?`},
		{&s.all, `SELECT owner, field, value, written_at FROM state`},
		{&s.version, `PRAGMA data_version`},
	} {
		if *p.stmt, err = s.conn.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqliteStore) fill(owner string) error {
	tx, err := s.conn.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	fields, values := columns()
	for i, field := range fields {
		if _, err := tx.Exec(`INSERT INTO state VALUES(?, ?, ?, ?)`, owner, field, values[i], time.Now().UnixNano()); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (s *sqliteStore) write(owner string, n int64) error {
	_, err := s.set.Exec(n, time.Now().UnixNano(), owner, measured)
	return err
}

func (s *sqliteStore) read(owner string) (n int64, err error) {
	err = s.get.QueryRow(owner, measured).Scan(&n)
	return n, err
}

func (s *sqliteStore) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

type sqliteCommit struct {
	*sqliteStore
}

func (d sqliteDriver) openCommit(dir string) (contestant, error) {
	s, err := d.open(dir, owners[:1])
	return sqliteCommit{sqliteStore: s}, err
}

func (c sqliteCommit) do(n int64) error { return c.write(owners[0], n) }

func (c sqliteCommit) finish(n int64) error {
	if err := c.close(); err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	found, err := c.read(owners[0])
	return errors.Join(err, c.close(), want(found, n))
}

// moved reports whether another connection has written since the last call.
// data_version does not see the connection's own writes.
func (s *sqliteStore) moved(last *int64) (bool, error) {
	var now int64
	err := s.version.QueryRow().Scan(&now)
	moved := now != *last
	*last = now
	return moved, err
}

// decode reads all owners into maps.
func (s *sqliteStore) decode() (map[string]map[string]any, error) {
	rows, err := s.all.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]map[string]any{}
	for rows.Next() {
		var owner, field string
		var value any
		var at int64
		if err := rows.Scan(&owner, &field, &value, &at); err != nil {
			return nil, err
		}
		if all[owner] == nil {
			all[owner] = map[string]any{}
		}
		all[owner][field] = value
	}
	return all, rows.Err()
}
