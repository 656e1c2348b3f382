/* One exclusive owner: commit lock, lease, epoch and fence.
 *
 * Each of PROCS places runs one process after another. A process opens the
 * owner, commits, closes, and may be killed at any step. Being stopped is no step: a process
 * that is never chosen is stopped.
 *
 * Kernel locks are variables, and the kernel frees those of a process that
 * dies. Files are variables too, for each is replaced by one rename. Beside
 * the processes of the owner
 *   - a third one shuts the fence for a while, as Retire does (retire.pml);
 *   - the lease file is removed from under its holder, and a repair that does
 *     not see that holder makes it anew;
 *   - the sidecar is removed.
 *
 * The clock is left out, as if it had been set back: epochs must grow even so.
 */

#ifndef PROCS
#define PROCS 2         /* places */
#endif
#ifndef OPENS
#define OPENS 3         /* processes, in all places together */
#endif
#ifndef COMMITS
#define COMMITS 2
#endif
#ifndef FENCES
#define FENCES 1        /* by the third one */
#endif
#ifndef REPAIRS
#define REPAIRS 1
#endif
#ifndef LOSSES
#define LOSSES 1        /* of the sidecar */
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define THIRD PROCS     /* after the places, the one that shuts the fence */
#define REPAIR (PROCS + 1)
#define NOBODY (PROCS + 2)
#define BIT(i) (1 << (i))

/* Kernel locks: who has them. */
byte lock = NOBODY;     /* OWNER.lock */
byte lease[2] = NOBODY; /* OWNER.lease: the inode made with the state, the one of the repair */
byte shut = NOBODY;     /* OWNER.fence, exclusively */
byte opening = 0;       /* OWNER.fence, shared: a set */

/* Files. */
byte inode = 0;         /* of OWNER.lease, by the manifest */
bool lost = false;      /* OWNER.lease has no name */
byte recEpoch = 1;      /* OWNER.lease.json */
byte recHolder = NOBODY;
byte sideEpoch = 1;     /* OWNER.json; 0 if there is none */
byte sideRevision = 1;

/* What the process in each place knows. Its commits are a thread of their own. */
byte handle[PROCS];     /* the inode of OWNER.lease that it has open */
byte epoch[PROCS];
byte written[PROCS];    /* the last revision that it wrote in its epoch */
bool fenced[PROCS];     /* it got ErrFenced, and commits no more */
bool commit[PROCS];     /* a commit is under way */
bool alive[PROCS + 1], killed[PROCS + 1];

byte opens = OPENS, commits = COMMITS, kills = KILLS;

/* What only the laws look at. */
byte newest = 1;        /* the newest epoch that has begun */
byte issued = 1;        /* the newest revision in it */
byte inside = 0;        /* who has the commit lock: a set */
byte holding = 0;       /* who has the lease by the state's inode: a set */

inline took_lock(i) {
	assert(inside == 0);                            /* never two writers inside */
	lock = i;
	inside = inside | BIT(i)
}

inline take_lock(i) {
	atomic { lock == NOBODY -> took_lock(i) }
}

inline free_lock() {
	atomic { lock = NOBODY; inside = 0 }
}

inline took_lease(i) {
	lease[handle[i]] = i;
	if
	:: handle[i] == inode ->
		assert(holding == 0);                   /* at most one holder */
		holding = holding | BIT(i)
	:: else
	fi
}

inline free_lease(i) {
	atomic {
		if
		:: lease[handle[i]] == i -> lease[handle[i]] = NOBODY
		:: else
		fi;
		holding = holding & ~BIT(i)
	}
}

/* An epoch larger than all that is visible begins, and is recorded. */
inline begin_epoch(i) {
	atomic {
		assert(opening & BIT(i));               /* it came through the open door */
#ifdef MUTANT_EPOCH_FROM_SIDECAR_ALONE
		epoch[i] = sideEpoch + 1;
#else
		epoch[i] = (recEpoch > sideEpoch -> recEpoch : sideEpoch) + 1;
#endif
		assert(epoch[i] > newest);              /* no epoch twice */
		newest = epoch[i];
		issued = 0;
		recEpoch = epoch[i];
		recHolder = i
	}
}

/* Is the lease of i the state's, and its epoch not passed? */
#define PASSED(i) (recEpoch > epoch[i] || (recEpoch == epoch[i] && recHolder != NOBODY && recHolder != i))
#define OWN(i) (!lost && handle[i] == inode && !PASSED(i))

/* The commits of the process in a place. */
proctype Commits(byte id) {
	bool own;
	byte revision;
end:	do
	:: commit[id] ->
		{
#ifndef MUTANT_CHECK_OUTSIDE_LOCK
			take_lock(id);
#endif
			atomic {
				own = OWN(id);
				assert(own || lost || lease[inode] != id || epoch[id] != newest)        /* only who was passed is fenced */
			};
#ifdef MUTANT_CHECK_OUTSIDE_LOCK
			take_lock(id);
#endif
#ifdef MUTANT_NO_EPOCH_CHECK
			own = true;
#endif
			if
			:: atomic { own ->              /* the sidecar is read, and may be an older one */
				revision = (sideEpoch == epoch[id] -> sideRevision + 1 : 1);
#ifndef MUTANT_REVISION_FROM_SIDECAR_ALONE
				revision = (revision > written[id] -> revision : written[id] + 1)
#endif
				};
				atomic {                /* the rename */
					assert(epoch[id] == newest);    /* no write of a passed epoch is seen */
					assert(revision > issued);      /* no version twice */
					issued = revision;
					written[id] = revision;
					sideEpoch = epoch[id];
					sideRevision = revision
				}
			:: atomic { else -> fenced[id] = true }
			fi;
			free_lock()
		} unless { killed[id] };
		atomic { commit[id] = false; own = false; revision = 0 }
	od
}

/* The processes in a place, one after another. */
proctype Place(byte id) {
born:	if
	:: atomic { opens > 0 && (id == 0 || opens < OPENS) -> opens--; alive[id] = true }
	:: opens == 0 -> goto done
	fi;
	{
		atomic { !lost -> handle[id] = inode };

open:		/* One try, in the order of the locks. Between tries it holds nothing. */
		atomic { shut == NOBODY -> opening = opening | BIT(id) };
		if
#ifdef MUTANT_LEASE_BROKEN_BY_AGE
		:: atomic { true -> took_lease(id) }
#else
		:: atomic { lease[handle[id]] == NOBODY -> took_lease(id) }
#endif
		:: atomic { lease[handle[id]] != NOBODY -> opening = opening & ~BIT(id) };
			if
			:: lease[handle[id]] == NOBODY -> goto open
			:: goto ended                   /* busy is an answer too */
			fi
		fi;
		if
		:: lost || handle[id] != inode -> goto close
		:: else
		fi;
		if
		:: atomic { lock == NOBODY -> took_lock(id) }
		:: lock != NOBODY ->
			free_lease(id);
			opening = opening & ~BIT(id);
			lock == NOBODY -> goto open
		fi;
		begin_epoch(id);
		free_lock();
		opening = opening & ~BIT(id);

serve:		if
		:: atomic { commits > 0 && !commit[id] && !fenced[id] -> commits--; commit[id] = true }; goto serve
		:: !commit[id] -> goto close            /* Close waits for commits under way */
		fi;

close:		/* Closing takes the process out of the record. */
		if
		:: fenced[id] || epoch[id] == 0
		:: else ->
			take_lock(id);
			if
#ifdef MUTANT_RELEASE_OTHERS_EPOCH
			:: true ->
#else
			:: !PASSED(id) ->
#endif
				atomic {
					assert(recEpoch <= epoch[id]);  /* only what is one's own */
					recEpoch = epoch[id];
					recHolder = NOBODY
				}
#ifndef MUTANT_RELEASE_OTHERS_EPOCH
			:: else
#endif
			fi;
			free_lock()
		fi;
		free_lease(id);
		opening = opening & ~BIT(id);
ended:		skip
	} unless { killed[id] -> !commit[id] };
	atomic {
		alive[id] = false;
		killed[id] = false;
		fenced[id] = false;
		epoch[id] = 0;
		written[id] = 0;
		handle[id] = 0;
		goto born
	};
done:	skip
}

/* Keeps everybody out for a while. */
proctype Third() {
	{
		atomic { shut == NOBODY && opening == 0 -> shut = THIRD; alive[THIRD] = true };
		atomic { shut = NOBODY; alive[THIRD] = false }
	} unless { killed[THIRD] }
}

/* The lease file is removed; `state repair` makes it anew. The worst case: it
 * does not see that somebody holds the old one. */
proctype Repair() {
	lost = true;
	atomic { shut == NOBODY && opening == 0 -> shut = REPAIR };
	take_lock(REPAIR);
	atomic { inode = 1; lost = false; holding = 0 };
	free_lock();
	shut = NOBODY
}

proctype Loss() {
	atomic { sideEpoch = 0; sideRevision = 0 }
}

/* kill -9: the kernel frees what the process held; its files stay. As long as
 * this one can go on, spin sees nobody wait for ever: KILLS=0 is for that. */
proctype Killer() {
	byte i;
end:	do
	:: atomic {
		kills > 0 -> kills--;
		select(i : 0 .. PROCS);
		if
		:: alive[i] ->
			alive[i] = false;
			killed[i] = true;
			if :: lock == i -> lock = NOBODY; inside = 0 :: else fi;
			if :: lease[0] == i -> lease[0] = NOBODY :: else fi;
			if :: lease[1] == i -> lease[1] = NOBODY :: else fi;
			if :: shut == i -> shut = NOBODY :: else fi;
			opening = opening & ~BIT(i);
			holding = holding & ~BIT(i)
		:: else
		fi;
		i = 0
	   }
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. PROCS - 1) {
			run Place(i);
			run Commits(i)
		};
#if FENCES
		run Third();
#endif
#if REPAIRS
		run Repair();
#endif
#if LOSSES
		run Loss();
#endif
		run Killer()
	}
}
