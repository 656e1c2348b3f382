// Package bench measures Freehold against what a program would otherwise use.
// It is a module of its own, so that the others stay out of Freehold's
// dependencies, and it promises no absolute time: only what two kinds need
// relative to each other, in one run, on one machine.
//
//	go test -run '^$' -bench . -benchtime 30x -count 3
//
// in this directory prints the tables, in a few minutes. Each round
// (-benchtime 30x: thirty of them, and -count 3: three times, in new
// directories) has a turn of every kind, in an order that changes from round to
// round. A time is the median over the rounds; "x KIND" is the median of the
// rounds' ratios to that kind, which is much steadier than the times: whatever
// slowed a round down slowed all of it. Less than 1 is faster than KIND.
//
// BENCH_DIR names the directory to work in, whose file system decides
// everything about a durable commit. If it is not set, the temporary directory
// is taken if it lies on the working directory's disk, else the working
// directory; the first line of the output says which it was. One kind alone
// can be chosen, for a profile of it:
//
//	go test -run '^$' -bench Commit -benchtime 300x -kinds '^freehold$' -cpuprofile cpu.out
//
// An ext4 without a journal does not give the inode of a deleted file away
// again for minutes, and whoever creates a file searches past all of those. A
// long run makes itself slow that way, all kinds alike.
//
// # Commit
//
// A turn commits one field of a state of twelve, durably, some times in
// sequence, and reads before it writes where the kind has to. When all rounds
// are over each kind is closed and its file read anew: if that is not the last
// value written, the benchmark fails.
//
//   - bare: write, fsync, rename, fsync of the directory, on prepared bytes,
//     as many as Freehold's sidecar has. No lock, no reading, no encoding.
//   - bare-plain: the same with the 469 bytes of the twelve fields alone.
//   - freehold: an Update through a typed handle, on a sidecar that is as
//     long as sidecars get: every field has its own writer, and the list of
//     recent commits is full.
//   - freehold-young: the same on a state that was just made.
//   - freehold-patch: the same by an operation that is data.
//   - freehold-hook: Open, Update and Close each time, as a hook does.
//   - flock+rename: what a careful program does by hand. gofrs/flock, read,
//     encoding/json, a temporary file, fsync, rename, fsync of the directory.
//   - renameio: read, encoding/json, renameio. Takes no lock and does not
//     sync the directory.
//   - lockedfile: read and write in place under a lock. Does not sync, and a
//     crash can tear it; lockedfile-fsync syncs.
//   - bbolt, sqlite-mattn, sqlite-modernc: one transaction that syncs; the
//     databases stay open, their statements prepared. SQLite has WAL and
//     synchronous=FULL.
//
// # Owners and Counter
//
// Several processes commit at once, durably, each of them as often in a turn:
// four processes that have an owner each, or eight that are all of one owner. A
// commit reads the owner's count and adds one to it. The time is that of the
// whole turn by the number of its commits, so that it is the inverse of the
// throughput. "slowest/fastest" is how fast the slowest process of a turn was
// compared with the fastest, the median over the rounds; "lost" is how many of
// the commits that were acknowledged a fresh look does not find when all is
// over. Only a kind of which the table says so may lose any: the benchmark fails
// otherwise. The processes have everything open all the time but for bbolt.
//
//   - bare-own: as above, each process in a directory of its own, without a
//     lock and without reading what is there.
//   - freehold: an Update that adds to a counter, on sidecars as long as above.
//   - flock+rename, lockedfile, lockedfile-fsync: as above, one file with the
//     twelve fields of every owner; with -own, a file for each owner.
//   - renameio: the same without a lock, which loses most of the counts.
//   - flock+bbolt: lock, open, one transaction, close: an open bbolt shuts other
//     processes out.
//   - sqlite-…: UPDATE … SET value = value + 1, which waits up to ten seconds for
//     the other processes.
//
// # View
//
// A turn reads the state of five owners with twelve fields each and looks at
// one field of every owner, whose sum must be what was last written. Views of
// an unchanged state and views after a write by one owner, which is not timed,
// have a table each.
//
//   - bare: open, read, close the five sidecars and compare the bytes with
//     those of the time before, which is all that a reader can do who keeps no
//     file open and does not believe time stamps.
//   - freehold: [github.com/freehold-dev/freehold/reader]: a view and five
//     typed fields.
//   - freehold-view: the view alone.
//   - readfile+json: os.ReadFile and encoding/json into maps, of five files
//     with the twelve fields alone; readfile+json-sidecars: of the very
//     sidecars that freehold reads.
//   - lockedfile+json: the five files of the twelve fields, each read under its
//     lock, which is shared with other readers and not with a writer.
//   - stat+json: the same files, read again where os.Stat shows another
//     modification time, size or inode. It does miss changes: a replaced file
//     can have all three again.
//   - bbolt: every bucket, into maps.
//   - sqlite-…: one SELECT of everything, if PRAGMA data_version moved.
//
// # Views while others write
//
// Four processes, each of an owner of its own, write as fast as they can, and one
// reader in another takes views and times each. The kinds are those above, and
// flock+bbolt locks and opens the database for each view and each write; the
// writes are not durable, but for those of SQLite, which sync. How many views and writes there
// were in a second belongs to the times: who writes less is easier to read.
//
// # Writers while others read
//
// Four processes of an owner each commit durably, alone and then while a thousand readers take two
// hundred views a second between them, in turns. The figure is by how many per
// cent more time a commit takes then; it should be below 20.
package bench
