//go:build !cgo

package bench

// mattn/go-sqlite3 is C.
var cgoDrivers []sqliteDriver
