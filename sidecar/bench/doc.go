// Package bench measures Freehold against other ways to keep a small state. It is
// a module of its own, so that the peers stay out of Freehold's dependencies. It
// promises no absolute time: only ratios of two kinds, in one run on one machine.
// README.md describes the kinds of each table.
//
//	go test -run '^$' -bench . -benchtime 30x -count 3
//
// Each round (-benchtime 30x: thirty of them, and -count 3: three times, in new
// directories) has a turn of every kind, in an order that changes from round to
// round. A time is the median over the rounds; "x KIND" is the median of the
// rounds' ratios to that kind, which is much steadier than the times, since a slow
// round slows all kinds. Less than 1 is faster than KIND.
//
// BENCH_DIR names the directory to work in: its file system decides everything
// about a durable commit. If BENCH_DIR is not set, the temporary directory is
// taken if it lies on the working directory's disk, else the working directory;
// the first line of the output names it. One kind alone can be chosen, for a
// profile:
//
//	go test -run '^$' -bench Commit -benchtime 300x -kinds '^freehold$' -cpuprofile cpu.out
//
// An ext4 without a journal keeps the inodes of deleted files unused for minutes,
// and each new file searches past all of those. A long run makes itself slow that
// way, all kinds alike.
package bench
