//go:build cgo

package bench

import _ "github.com/mattn/go-sqlite3"

var cgoDrivers = []sqliteDriver{{
	"mattn", "sqlite3", "?_txlock=immediate&_busy_timeout=10000&_journal_mode=WAL&_synchronous=FULL",
}}
