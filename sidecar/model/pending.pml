/* deferring, folding and reading, with processes killed and power lost.
 *
 * Each of PATCHES writers has one patch. It commits it under the owner's lock,
 * or, not getting that in time, defers it. A commit folds what was set
 * pending, also one that has no patch of its own. A reader takes no lock.
 *
 * Patches add up; so all that matters of the sidecar is which of them its
 * values contain, and which ids it lists as folded.
 *
 * What a file or directory is for running processes and what it would be after
 * a power loss are two variables. Each synced thing is the same in both. What is
 * not synced may reach the disk at any time, each file and each name for itself,
 * in any order: more than any file system does.
 */

#ifndef PATCHES
#define PATCHES 2
#endif
#ifndef COMMITS
#define COMMITS 2       /* without a patch of their own */
#endif
#ifndef VIEWS
#define VIEWS 2
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef CUTS
#define CUTS 1          /* of the power */
#endif

#define FOLDER PATCHES
#define READER (PATCHES + 1)
#define NOBODY (PATCHES + 2)
#define BIT(i) (1 << (i))

byte lock = NOBODY;
bool alive[PATCHES + 2], killed[PATCHES + 2];
byte commits = COMMITS, kills = KILLS, cuts = CUTS;

/* The sidecar: the patches in its values, and those whose ids it lists. */
byte values = 0, folded = 0;
byte diskValues = 0, diskFolded = 0;

/* The pending directory: the patches that have a file. */
byte pending = 0;
byte diskPending = 0;
byte whole = 0;         /* patches whose file's contents are on the disk */

/* What only the laws look at. */
byte acknowledged = 0;
byte seen = 0;          /* patches that a view has shown */

inline sync_sidecar() {
	atomic { diskValues = values; diskFolded = folded }
}

inline sync_pending() {
	diskPending = pending
}

/* A rename. What it replaces may have reached the disk before. */
inline publish(v, f) {
	atomic {
		if
		:: diskValues = values; diskFolded = folded
		:: diskValues != values || diskFolded != folded
		fi;
		values = v;
		folded = f
	}
}

#define LOWEST(set) (set & (~set + 1))

/* The files of a set are unlinked, one after the other. */
inline unlink(set) {
	do
	:: atomic { set ->
		one = LOWEST(set);
		set = set & ~one;
		if
		:: diskPending = diskPending | (pending & one)
		:: pending & ~diskPending & one
		fi;
		pending = pending & ~one;
		one = 0 }
	:: !set -> break
	od
}

inline ended(me) {
	atomic { alive[me] = false; killed[me] = false; files = 0; newValues = 0; newFolded = 0 }
}

/* A commit with the patches own. What is read under the lock stays as it is, so
 * that reading it is part of taking the lock. */
inline commit(me, own) {
	atomic {
#ifndef MUTANT_FOLD_OUTSIDE_LOCK
		lock == NOBODY -> lock = me;
#endif
		alive[me] = true;
		files = pending;
#ifdef MUTANT_LEFTOVER_UNLINKED_AT_ONCE
		one = files & folded;
		pending = pending & ~one;
		files = files & ~one;
		sync_pending();
#endif
#ifndef MUTANT_NO_SYNC_BEFORE_DROP
		/* An id may go when it is certain that its file never comes back. */
		if
		:: folded & ~files -> sync_pending()
		:: else
		fi;
#endif
		fresh = files & ~folded;
		assert((values & (fresh | own)) == 0);  /* no patch is applied twice */
		newValues = values | fresh | own;
#if defined MUTANT_ID_DROPPED_EARLY
		newFolded = fresh;
#elif defined MUTANT_FOLDED_WITHOUT_ID
		newFolded = files & folded;
#else
		newFolded = files;              /* fresh, and left over by who was killed */
#endif
		fresh = 0
	};
#ifdef MUTANT_UNLINKED_BEFORE_PUBLISHED
	unlink(files);
#endif
	publish(newValues, newFolded);
#ifndef MUTANT_NO_SYNC_BEFORE_UNLINK
	sync_sidecar();
#endif
	unlink(files);
	atomic {
#ifdef MUTANT_NO_SYNC_BEFORE_UNLINK
		sync_sidecar();
#endif
		sync_pending();
		lock = NOBODY;
		acknowledged = acknowledged | own
	}
}

proctype Writer(byte id) {
	byte files, fresh, newValues, newFolded, one;
	{
		if
		:: commit(id, BIT(id))
		:: atomic {                             /* the lock was not to be had in time */
			true -> alive[id] = true;
#ifndef MUTANT_PATCH_NOT_SYNCED
			whole = whole | BIT(id);
#endif
			pending = pending | BIT(id) };      /* the rename */
			atomic {
#ifndef MUTANT_ACKNOWLEDGED_UNSYNCED
				sync_pending();
#endif
				acknowledged = acknowledged | BIT(id)
			}
		fi
	} unless { killed[id] };
	ended(id)
}

/* Commits that have no patch of their own. */
proctype Folder() {
	byte files, fresh, newValues, newFolded, one;
	do
	:: commits > 0 ->
		{
			commit(FOLDER, 0)
		} unless { killed[FOLDER] };
		atomic { commits--; ended(FOLDER) }
	:: commits == 0 -> break
	od
}

proctype Reader() {
	byte views = VIEWS;
	byte v, f;              /* the sidecar, as read */
	byte listed, one, todo;
	byte must;              /* what this view must show */
	do
	:: views > 0 ->
		{
			atomic { must = acknowledged | seen; alive[READER] = true; todo = BIT(PATCHES) - 1 };
#ifdef MUTANT_SIDECAR_READ_FIRST
			atomic { v = values; f = folded };
#endif
			/* A directory is not listed in one step. A file that is gone when
			 * it is to be read might as well not have been listed. */
			do
			:: atomic { todo ->
				one = LOWEST(todo);
				todo = todo & ~one;
				listed = listed | (pending & one);
				one = 0 }
			:: !todo -> break
			od;
again:
#ifndef MUTANT_SIDECAR_READ_FIRST
			atomic { v = values; f = folded };
#endif
#ifdef MUTANT_FOLDED_COUNTED
			f = 0;
#endif
#ifndef MUTANT_NO_READER_RECHECK
			/* Is the file of each patch that is to count still there? */
			todo = listed & ~f;
			do
			:: atomic { todo ->
				one = LOWEST(todo);
				todo = todo & ~one;
				if
				:: pending & one -> one = 0
				:: else ->
					listed = listed & ~one;
					one = 0;
#ifndef MUTANT_VANISHED_NOT_READ_AGAIN
					todo = 0;
					goto again
#endif
				fi }
			:: !todo -> break
			od;
#endif
			atomic {
				listed = listed & ~f;
				assert((v & listed) == 0);      /* nothing is counted twice */
				v = v | listed;
				assert((must & ~v) == 0);       /* nothing acknowledged or seen is missing */
				seen = seen | v
			}
		} unless { killed[READER] };
		atomic { views--; alive[READER] = false; killed[READER] = false; v = 0; f = 0; listed = 0; todo = 0; must = 0 }
	:: views == 0 -> break
	od
}

/* Kills, and cuts the power. As long as this one can go on, spin sees nobody wait
 * for ever: KILLS=0 CUTS=0 is for that. */
proctype Killer() {
	byte i;
end:	do
	:: atomic {                                     /* kill -9 */
		kills > 0 -> kills--;
		select(i : 0 .. FOLDER);
		if
		:: alive[i] ->
			alive[i] = false;
			killed[i] = true;
			if
			:: lock == i -> lock = NOBODY
			:: else
			fi
		:: else
		fi;
		i = 0
	   }
	:: atomic {                                     /* the power fails */
		cuts > 0 -> cuts--;
		for (i : 0 .. READER) {
			killed[i] = killed[i] || alive[i];
			alive[i] = false
		};
		lock = NOBODY;
		if
		:: diskValues = values; diskFolded = folded
		:: diskValues != values || diskFolded != folded
		fi;
		for (i : 0 .. PATCHES - 1) {
			if
			:: diskPending = (diskPending & ~BIT(i)) | (pending & BIT(i))
			:: (pending ^ diskPending) & BIT(i)
			fi
		};
		values = diskValues;
		folded = diskFolded;
		diskPending = diskPending & whole;
		pending = diskPending;
		seen = seen & acknowledged;             /* what was only seen may be lost */
		i = 0
	   }
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. PATCHES - 1) {
			run Writer(i)
		};
		run Folder();
		run Reader();
		run Killer()
	}
}
