// Package model holds Promela models of the protocols of package sidecar, in
// which every interleaving of a few processes is looked at, with a kill at any
// step. It holds no Go code; that the code follows the models is for
// people to see, and for the tests of package sidecar to try.
//
//   - lease.pml: an exclusive owner's commit lock, lease, epoch and fence,
//     with the lease file or the sidecar lost meanwhile;
//   - retire.pml: Prepare, Run and RunWith of package retire, under a supervisor that
//     restarts at once, with process ids used again and a forged record;
//   - pending.pml: deferring, folding and reading, with power losses too.
//
// The laws are the assertions in them, and that nobody waits for ever. Each
// model has mutants, with one rule broken each: -DMUTANT_NAME. The tests check
// that the models as they are break no law and that each of their steps is
// taken, and that each mutant breaks the law that its rule is there for. They
// need spin and gcc (Debian: spin, gcc), and check larger bounds, too, if
// FREEHOLD_TORTURE is set.
//
// By hand, in a copy of this directory, for a short counterexample step by step:
//
//	mutant="-DMUTANT_NO_EPOCH_CHECK -DFENCES=0 -DLOSSES=0 -DKILLS=0"
//	spin -a $mutant lease.pml && gcc -O2 -DSAFETY -DREACH -w -o pan pan.c
//	./pan -i && spin -t -p -g $mutant lease.pml
//
// # Left out
//
// The clock, which only makes epochs larger: the models behave as if it had been
// set back. Damaged records and sidecars, and older ones put back. A lost commit
// lock, which a repair makes anew only if it sees nobody hold the lost one;
// directories that are moved. Inherited descriptors, but for the fence's. Other
// PID namespaces and other users, of which the code does not judge. System calls
// that fail, deadlines of commits, claims. Each replacement of a file is one
// step: package sidecar's tests stop it at every system call.
package model
