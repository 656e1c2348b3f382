/* The order of pending patches, which no lock protects, with processes killed.
 *
 * Each of WRITERS sets one patch pending: its file's name is a number. Folds take
 * in pending patches, under the owner's lock. A reader takes no lock.
 *
 * Patches do several things at once, so that nothing but one order of all will
 * do: one in which a patch comes after all that were acknowledged before it
 * began, and in which each view shows the patches up to one and none after it.
 */

#ifndef WRITERS
#define WRITERS 3
#endif
#ifndef MOST
#define MOST 4          /* the highest number; who needs another gives up */
#endif
#ifndef FOLDS
#define FOLDS 2
#endif
#ifndef VIEWS
#define VIEWS 2
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define FOLDER WRITERS
#define NOBODY 255
#define BIT(i) (1 << (i))
#define ALL (BIT(WRITERS) - 1)

bool alive[WRITERS + 1], killed[WRITERS + 1];
byte folds = FOLDS, kills = KILLS;

/* The directory: by number, whose patch has the name. */
byte file[MOST + 1] = NOBODY;

/* The sidecar: the patches in its values, in their order; the ids that it lists,
 * and the highest number that was folded. */
byte inside = 0, count = 0, folded = 0, taken = 0;
byte place[WRITERS];

/* What only the laws look at. */
byte acknowledged = 0;
byte seen = 0;
byte before[WRITERS];   /* the patches that come before one, for certain */

inline acknowledge(me) {
	acknowledged = acknowledged | BIT(me)
}

/* The highest number in the directory. What a slow process has seen of it is as
 * old as one that looks at once and is slow then.
 */
inline look(h) {
	n = 1;
	do
	:: n <= MOST ->
		if
		:: file[n] != NOBODY -> h = n
		:: else
		fi;
		n++
	:: n > MOST -> break
	od;
	n = 0
}

/* A directory is not listed in one step. So it is listed twice, and what is above
 * the highest number of the first time is left out. What is listed is read. */
inline list() {
#ifndef MUTANT_LISTED_ONCE
	atomic { look(last) };
#else
	last = MOST;
#endif
	n = 1;
	do
	:: atomic { n <= last -> got[n] = file[n]; n++ }
	:: atomic { n > last -> last = 0; n = 0; break }
	od
}

proctype Writer(byte id) {
	byte n, number;
	{
		atomic { alive[id] = true; before[id] = before[id] | acknowledged };
next:
		atomic { look(number) };
		atomic {                /* after that: what is gone from there is folded */
			if
			:: taken > number -> number = taken
			:: else
			fi;
			number++
		};
try:
		if
		:: atomic { number > MOST -> goto over }
		:: number <= MOST
		fi;
		if
#ifdef MUTANT_NAME_REPLACES
		:: atomic { true -> file[number] = id }
#else
		:: atomic { file[number] == NOBODY -> file[number] = id }
		:: atomic { file[number] != NOBODY -> number++; goto try }
#endif
		fi;
		/* It has its name. Had the number passed? */
		atomic {
			if
#ifndef MUTANT_PASSED_ACKNOWLEDGED
			:: taken >= number && !(folded & BIT(id)) -> skip
#endif
			:: else -> acknowledge(id); goto over
			fi
		};
		if
		:: atomic { file[number] == id ->
			file[number] = NOBODY;
			folded = folded & ~BIT(id);     /* it has another id now */
			number = 0;
			goto next }
		:: atomic { file[number] != id -> acknowledge(id) }     /* it was folded */
		fi;
over:		skip
	} unless { killed[id] };
	atomic { alive[id] = false; killed[id] = false; n = 0; number = 0 }
}

/* Of the patches that are read, those whose numbers have passed are removed if
 * they are there, and nobody holds the lock that their writers do. That is looked
 * at long before they are removed, by name.
 */
#define PASSED(n) (got[n] != NOBODY && !(folded & BIT(got[n])) && n <= taken)

inline judge() {
	n = 1;
	do
	:: atomic {
		do
		:: n <= MOST && !PASSED(n) -> n++
		:: n > MOST || PASSED(n) -> break
		od;
		if
		:: n > MOST -> break
		:: n <= MOST ->
			if
#ifdef MUTANT_PASSED_REMOVED_FROM_THE_LIVING
			:: true -> skip
#elif defined(MUTANT_GONE_CALLED_FREE)
			:: file[n] != got[n] || !alive[got[n]] -> skip
#elif defined(MUTANT_JUDGED_WITHOUT_ITS_NAME)
			:: !alive[got[n]] -> skip
#else
			:: file[n] == got[n] && !alive[got[n]] -> skip
#endif
			:: else -> got[n] = NOBODY
			fi;
			n++
		fi
	   }
	od
}

proctype Folder() {
	byte names, n, last, must;
	byte got[MOST + 1] = NOBODY;
	do
	:: folds > 0 ->
		{
			atomic { alive[FOLDER] = true; must = acknowledged | seen };
			list();
#ifndef MUTANT_PASSED_TAKEN_IN
			judge();
#endif
			atomic {                /* publish, synced */
				n = 1;
				last = taken;
				names = 0;      /* the ids to list */
				do
				:: n <= MOST ->
					if
					:: got[n] == NOBODY
					:: got[n] != NOBODY && (folded & BIT(got[n])) -> names = names | BIT(got[n])
					:: got[n] != NOBODY && !(folded & BIT(got[n])) ->
						if
#ifndef MUTANT_PASSED_TAKEN_IN
						:: n <= last -> skip    /* it is judged */
#endif
						:: else ->
							assert(!(inside & BIT(got[n])));        /* no patch is folded twice */
							inside = inside | BIT(got[n]);
							place[got[n]] = count;
							count++;
							names = names | BIT(got[n]);
#ifndef MUTANT_TAKEN_NOT_PUBLISHED
							if
							:: n > taken -> taken = n
							:: else
							fi
#endif
						fi
					fi;
					n++
				:: n > MOST -> break
				od;
				folded = names;
				assert((must & ~inside) == 0);  /* a commit comes after all that was there */
				names = 0; last = 0; must = 0
			};
			n = 1;
			do
			:: atomic { n <= MOST ->
				if
				:: got[n] != NOBODY -> file[n] = NOBODY; got[n] = NOBODY
				:: else
				fi;
				n++ }
			:: n > MOST -> break
			od
		} unless { killed[FOLDER] };
		atomic {
			folds--;
			alive[FOLDER] = false; killed[FOLDER] = false;
			n = 1;
			do
			:: n <= MOST -> got[n] = NOBODY; n++
			:: n > MOST -> break
			od;
			names = 0; n = 0; last = 0; must = 0
		}
	:: folds == 0 -> break
	od
}

/* The next patch that a view shows. */
inline present(w) {
	assert((before[w] & ~shown) == 0);      /* what comes before it is shown, and before it */
	before[w] = before[w] | shown;
	shown = shown | BIT(w)
}

proctype Reader() {
	byte views = VIEWS;
	byte n, last, must, shown, w;
	byte got[MOST + 1] = NOBODY;
	do
	:: views > 0 ->
		atomic { must = acknowledged | seen };
		list();
		atomic {                        /* the sidecar is read */
			n = 0;
			do
			:: n < count ->
				w = 0;
				do
				:: (inside & BIT(w)) && place[w] == n -> break
				:: else -> w++
				od;
				present(w);
				n++
			:: n >= count -> break
			od;
			n = 1;
			do
			:: n <= MOST ->
				if
				:: got[n] == NOBODY
				:: got[n] != NOBODY && (folded & BIT(got[n]))
#ifndef MUTANT_PASSED_COUNTED
				:: got[n] != NOBODY && !(folded & BIT(got[n])) && n <= taken
				:: got[n] != NOBODY && !(folded & BIT(got[n])) && n > taken ->
#else
				:: got[n] != NOBODY && !(folded & BIT(got[n])) ->
#endif
					assert(!(shown & BIT(got[n])));         /* nothing is counted twice */
					w = got[n];
					present(w)
				fi;
				got[n] = NOBODY;
				n++
			:: n > MOST -> break
			od;
			assert((must & ~shown) == 0);   /* nothing acknowledged or seen is missing */
			seen = seen | shown;
			w = 0;
			do
			:: w < WRITERS ->               /* the others come after */
				if
				:: shown & BIT(w)
				:: else -> before[w] = before[w] | shown
				fi;
				w++
			:: w >= WRITERS -> break
			od;
			views--; n = 0; last = 0; must = 0; shown = 0; w = 0
		}
	:: views == 0 -> break
	od
}

proctype Killer() {
	byte i;
end:	do
	:: atomic {                     /* kill -9 */
		kills > 0 -> kills--;
		select(i : 0 .. FOLDER);
		if
		:: alive[i] -> alive[i] = false; killed[i] = true
		:: else
		fi;
		i = 0
	   }
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. WRITERS - 1) {
			run Writer(i)
		};
		run Folder();
		run Reader();
		run Killer()
	}
}
