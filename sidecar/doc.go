// Package sidecar writes an owner's file, its sidecar: each commit replaces
// the whole file at once, takes turns with the owner's other processes, and
// ends in one of a few ways that a caller can tell apart. It does not stop a
// program from naming an owner that is not its own: that is what generated
// writer packages, which only the owner's home can import, are for.
//
// Programs use the generated packages. This one is for them, for the command
// line and for tests.
//
// # A commit
//
// [Writer.Update] takes the owner's lock, reads the sidecar, calls its
// function on what it read, writes a new file beside the old one, syncs it,
// renames it over the old one and syncs the directory. What a reader sees is
// always one whole version. An Update returns
//
//   - [Applied], and what it wrote survives what the owner's durability says;
//   - [Unchanged], if every field had the value already; the file is the same,
//     and is as durable as after Applied;
//   - [Deferred], for an owner that is declared so and whose lock was not to be
//     had in time;
//   - an error, and nothing has changed;
//   - an error that wraps [ErrIndeterminate], if the operating system left it
//     open: the new version may be there or may not survive a crash.
//     [Resolve] answers later.
//
// Updates by many goroutines on one Writer share a commit.
//
// # deferring
//
// A pending patch is a file of its own, in the directory of its
// owner, which is never changed. It is synced, and so is the directory if the
// owner's commits survive power loss, before it is acknowledged. A reader counts
// it from then on. Each later commit folds what it finds, before its own
// changes, exactly once, and if it has no time for all of it, makes none of its own: type fold in this package says by which order of steps,
// and package model tries all of them. What is folded is still that of who set
// it pending: that one's program and process are the provenance of the fields.
//
// Patches have an order, in all views and all commits, which no clock decides:
// one whose Update began after another was acknowledged comes after that. So an
// element that was inserted and then removed is gone. A commit comes after all
// that was deferred before its Update began. File order.go says how, and
// names the exceptions.
//
// A patch means the incarnations of keys that there were when it was deferred.
// One on a key that was absent joins the incarnation that the first such patch
// creates; if that was deleted before it was deferred, it creates another, as
// its Update would have done then. What means another one, and what a counter
// cannot hold, is rejected: a copy stays in the quarantine with the reason, and
// [Options].Notice hears of it. Once there are [MaxRejected] of an owner, no more
// are deferred. A patch that this release does not understand stays where it is.
//
// # Maps
//
// A map may have several owners, each with members of its own at the keys. One
// of them decides which keys there are; a key that it creates is an
// incarnation, named by the version of the commit that did. What the others
// have is attached to an incarnation and vanishes with it, also if a key of the
// same name comes back: it is absent then, and the next commit that changes
// their part collects it. They take the incarnation from the sidecar of the
// owner of the keys, which is read without a lock when their Update begins. A
// view joins all of it by key.
//
// # Instances
//
// A state with instances is a directory of states, one for each id, which
// [OpenInstance] opens and, if asked, makes: it is there complete or not at all.
// As long as a Writer is open it holds a shared kernel lock on the instance's
// directory, and package prune removes no instance on which it does not get
// that lock alone. A directory that holds another instance than its name says
// is refused.
//
// # A claim
//
// A once field is claimed at most once: [Writer.Claim]. Its value is a file of
// its own, which is complete from the moment at which it has its name, and gets
// that in a way that replaces nothing. So the kernel decides who wins, without a
// lock. The winner hears it once the name is durable and is where everybody
// looks; a loser makes it durable too before it hears whose it is. Nobody ever
// changes or deletes the file. Whatever stands in its place counts as claimed.
//
// # A lease
//
// An exclusive owner has one live process: the one that holds the kernel's lock
// on its lease file, from [Open] until [Writer.Close] or until it ends. Nothing
// else makes a process the live one, and nothing takes that away from it: no
// age, no clock, no record. A stopped process keeps its lease; a dead one has
// none. Each lease begins an epoch, larger than all before, and a commit of an
// earlier epoch gets [ErrFenced] and changes nothing.
//
// Package retire ends exactly the process that held the lease,
// and never its successor: Retire keeps the fence shut, which whoever takes the
// lease has to pass. [LeaseStatus] says who holds one.
package sidecar
