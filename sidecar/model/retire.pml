/* Retiring exactly the process that was prepared, under a supervisor.
 *
 * The owner's daemon runs under a supervisor that restarts it at once. Another
 * process of the same owner, started beside it, waits for the lease. A stranger
 * has nothing to do with any of it. Process ids are used again as soon as they
 * are free. A retirer prepares whom the record names, and later retires that
 * identity; killed on the way, it is run again for the same one. Retire signals
 * through a pidfd. RunWith runs a command that stops the service by its name
 * and inherits the shut fence.
 *
 * An identity is a number that is never used again. Who has exited remains, as a
 * zombie, until it is reaped: its locks are free, its process id is not, and a
 * signal to it succeeds without effect. The kernel tells who was ended by a
 * signal that the retirer did not send; who exits by itself cannot be told from
 * who obeys.
 *
 * Commit lock and epochs are in lease.pml. Here a process has one epoch, for
 * which its identity stands.
 */

#ifndef IDS
#define IDS 3           /* processes of the owner, in all */
#endif
#ifndef RETIRERS
#define RETIRERS 1      /* at most 2 */
#endif
#ifndef RUNS
#define RUNS 2          /* of all retirers together, killed ones included */
#endif
#ifndef CRASHES
#define CRASHES 1       /* of the owner's processes */
#endif
#ifndef KILLS
#define KILLS 1         /* of retirers */
#endif
#ifndef FORGERIES
#define FORGERIES 1     /* of the record, which then names a stranger */
#endif
#ifndef COMMANDS
#define COMMANDS 1      /* may a retirer run one? */
#endif

#define SUPERVISED 0    /* the owner's places: under the supervisor, */
#define BESIDE 1        /* and beside it */
#define NOBODY 0
#define STRANGER (IDS + 1)
#define RETIRER (IDS + 2)       /* as a holder of the lease */
#define BIT(i) (1 << (i))
#define IN(set, i) ((set & BIT(i)) != 0)

/* The kernel. */
byte user[3];           /* whose each process id is */
byte running = 0;       /* who has not exited: a set */
byte asked = 0;         /* who was sent SIGTERM: a set */
byte slain = 0;         /* who was ended by a signal of somebody else's: a set */
byte lease = NOBODY;    /* who holds OWNER.lease */
byte opening = 0;       /* which places hold OWNER.fence, shared: a set */
byte shut = 0;          /* who holds it exclusively: i for retirer i, 4 + i for
                         * its stop command, which inherits it: a set */

/* OWNER.lease.json. */
byte recHolder = NOBODY;
byte recID;

byte who[2];            /* who runs in each place */
byte ids = 1;           /* the next identity */
byte stubborn = 0;      /* who ignores SIGTERM: a set */
byte prepared[RETIRERS];
bool command[RETIRERS]; /* its stop command runs */
bool alive[RETIRERS], killed[RETIRERS];
byte runs = RUNS, crashes = CRASHES, kills = KILLS;

/* What only the laws look at. */
byte held = 0;          /* who ever had the lease: a set */
byte serving = 0;       /* who has it and works: a set */
byte retired = 0;       /* who was reported as retired: a set */

/* A new process gets the lowest free id. */
inline take_id(id, i) {
	if
	:: user[0] == NOBODY -> id = 0
	:: user[0] != NOBODY && user[1] == NOBODY -> id = 1
	:: user[0] != NOBODY && user[1] != NOBODY -> id = 2
	fi;
	user[id] = i;
	running = running | BIT(i)
}

/* Who runs in a place exits, if it has not yet. */
inline exits(place) {
	running = running & ~BIT(who[place]);
	serving = serving & ~BIT(who[place]);
	asked = asked & ~BIT(who[place]);
	opening = opening & ~BIT(place);
	if
	:: lease == who[place] -> lease = NOBODY
	:: else
	fi
#ifdef REAPED_AT_ONCE
	;
	if
	:: user[0] == who[place] -> user[0] = NOBODY
	:: user[1] == who[place] -> user[1] = NOBODY
	:: user[2] == who[place] -> user[2] = NOBODY
	:: else
	fi
#endif
}

/* The owner's processes in a place, one after another. */
proctype Place(byte place) {
	byte id;
born:	atomic {
		if
		:: ids <= IDS -> who[place] = ids; ids++
		:: else -> goto gone
		fi;
		take_id(id, who[place])
	};
	{
		skip;
open:		atomic { shut == 0 -> opening = opening | BIT(place) };
		if
		:: atomic { lease == NOBODY -> lease = who[place]; held = held | BIT(who[place]) }
		:: lease != NOBODY ->
#ifndef MUTANT_OPEN_HOLDS_WHILE_WAITING
			opening = opening & ~BIT(place);
#endif
end_busy:		lease == NOBODY -> goto open
		fi;
		atomic {                                /* its epoch begins */
			recHolder = who[place];
			recID = id;
			serving = serving | BIT(who[place])
		};
		opening = opening & ~BIT(place);

end_serve:	IN(asked, who[place]);
		if
		:: atomic { !stubborn -> stubborn = BIT(who[place]) };
end_stubborn:		false
		:: true                                 /* it drains */
		fi;
#ifdef MUTANT_DRAIN_TAKES_FENCE
		atomic { shut == 0 -> opening = opening | BIT(place) };
#endif
		if
		:: recHolder == who[place] -> recHolder = NOBODY
		:: else
		fi;
		atomic { lease = NOBODY; serving = serving & ~BIT(who[place]) }
	} unless { !IN(running, who[place]) || IN(asked & ~serving, who[place]) };     /* SIGTERM ends who does not work */
	d_step { exits(place) };
	atomic {                                        /* it is reaped */
#ifndef REAPED_AT_ONCE
		user[id] = NOBODY;
#endif
		who[place] = NOBODY;
		id = 0;
		if
		:: place == SUPERVISED -> goto born
		:: else
		fi
	};
gone:	skip
}

proctype Retirer(byte r) {
	byte id;                /* the prepared one's process id */
	byte record;            /* whom the record names behind the fence */
	byte fd;                /* whom the pidfd refers to */
	bool signalled, commanded;
	bool ran;               /* the prepared one ran when the fence was shut, */
	bool hit;               /* and when it was signalled */

end_prepare:
	atomic { recHolder != NOBODY -> prepared[r] = recHolder; id = recID };
again:	if
	:: atomic { runs > 0 -> runs--; alive[r] = true }
	:: runs == 0 -> goto done
	fi;
	{
		atomic { shut == 0 && opening == 0 -> shut = shut | BIT(r); ran = IN(running, prepared[r]) };
#ifdef MUTANT_IDENTITY_BY_PID
		record = (recHolder != NOBODY && recID == id -> prepared[r] : recHolder);
#else
		record = recHolder;
#endif
		if
		:: atomic { lease == NOBODY -> lease = RETIRER; goto free }
		:: lease != NOBODY
		fi;
		if
		:: record != prepared[r] && record != NOBODY -> goto other
		:: record == NOBODY && lease == NOBODY -> goto gone
		:: else
		fi;
#ifndef MUTANT_PIDFD_AFTER_CHECK
		fd = user[id];
#endif
		/* Boot, PID namespace, start time, pidfd inode, nonce. */
		if
#ifdef MUTANT_IDENTITY_BY_PID
		:: user[id] == NOBODY -> goto gone
#else
		:: user[id] != prepared[r] -> goto gone
#endif
		:: else
		fi;
		/* One of its descriptors carries the lock. */
		if
#ifndef MUTANT_NO_HOLDING_CHECK
		:: lease != user[id] -> goto gone
#endif
		:: else
		fi;
#ifdef MUTANT_PIDFD_AFTER_CHECK
		fd = user[id];
#endif
		if
		:: !IN(running, fd) -> goto gone        /* the pidfd is readable */
		:: else
		fi;

#ifdef MUTANT_FENCE_NOT_HELD_ACROSS_STOP
		shut = shut & ~BIT(r);
#endif
		if
		:: atomic {                             /* Retire */
			user[id] == fd ->
			assert(fd == prepared[r]);      /* a successor is never signalled, */
			assert(IN(held, fd));           /* nor who never had the lease */
			signalled = true;
			hit = IN(running, fd);
			asked = asked | (BIT(fd) & running) }
		:: user[id] != fd -> goto gone          /* ESRCH */
		:: atomic { COMMANDS ->                 /* RunWith */
			commanded = true;
			command[r] = true;
#ifndef MUTANT_COMMAND_WITHOUT_FENCE
			shut = shut | BIT(4 + r)
#endif
			}
#ifndef MUTANT_FENCE_OPENED_UNDER_COMMAND
			;
			if
			:: !command[r]
			:: atomic { command[r] -> command[r] = false; shut = shut & ~BIT(4 + r) }       /* too long: killed */
			fi
#endif
		fi;
		if
		:: !IN(running, fd)
		:: IN(running, fd) && (IN(stubborn, fd) || commanded) -> goto over      /* ErrDeadline */
		:: atomic { IN(running, fd) && IN(stubborn, fd) && who[SUPERVISED] == fd -> exits(SUPERVISED) } /* SIGKILL */
		:: atomic { IN(running, fd) && IN(stubborn, fd) && who[BESIDE] == fd -> exits(BESIDE) }
		fi;
#ifndef MUTANT_EXIT_STATUS_IGNORED
		if
		:: !commanded && IN(slain, fd) -> goto gone
		:: else
		fi;
#endif
		atomic { lease == NOBODY -> lease = RETIRER };
		atomic {                                /* Retired: */
			assert(IN(shut, r));            /* with the fence shut, */
			assert(!IN(running, prepared[r]));      /* its exit was seen, */
			assert(ran);                    /* which came after the fence was shut */
			assert(commanded || signalled); /* and was our doing */
			assert(commanded || hit || !IN(slain, prepared[r]));    /* and nobody else's */
#ifdef STRICT
			assert(commanded || hit);       /* beyond all doubt */
#endif
			assert(!IN(retired, prepared[r]));      /* one report */
			retired = retired | BIT(prepared[r]);
			recHolder = NOBODY
		};
		goto release;

gone:		/* The prepared one does not hold the lease. Does anybody? */
		if
		:: atomic { lease == NOBODY -> lease = RETIRER }
		:: lease != NOBODY -> goto other
		fi;
free:		atomic {                                /* AlreadyGone: */
			assert(lease == RETIRER);       /* no process holds the lease */
			recHolder = NOBODY
		};
release:	lease = NOBODY;
		goto over;

other:		assert(!signalled && !commanded);       /* ErrIdentityChanged: nothing was done */
over:		shut = shut & ~(BIT(r) | BIT(4 + r))
	} unless { killed[r] };
	atomic {
		alive[r] = false;
		killed[r] = false;
		record = 0;
		fd = 0;
		signalled = false;
		commanded = false;
		ran = false;
		hit = false;
		goto again
	};
done:	skip
}

/* The stop command of retirer r stops whom the supervisor runs. */
proctype Command(byte r) {
end:	do
	:: atomic {
		command[r] ->
		/* One that waits at the fence may be hit, one that serves may not. */
		assert(!IN(serving, who[SUPERVISED]) || who[SUPERVISED] == prepared[r]);
		asked = asked | (BIT(who[SUPERVISED]) & running);
		command[r] = false;
		shut = shut & ~BIT(4 + r)
	   }
	od
}

/* Is never the owner's. Somebody may forge a record that names it. */
proctype Stranger() {
	byte id;
	atomic { take_id(id, STRANGER) };
	atomic { recHolder = STRANGER; recID = id }
}

/* Retirer r is killed. Its stop command is not, and keeps the fence. */
inline kill(r) {
	alive[r] = false;
	killed[r] = true;
	if
	:: lease == RETIRER && IN(shut, r) -> lease = NOBODY
	:: else
	fi
#ifndef MUTANT_FENCE_SURVIVES_DEATH
	;
	shut = shut & ~BIT(r)
#endif
}

/* Ends the owner's processes and the retirers, at any step. As long as this one
 * can go on, spin sees nobody wait for ever: KILLS=0 CRASHES=0 is for that. */
proctype Killer() {
	byte place;
end:	do
	:: atomic {
		crashes > 0 ->
		select(place : SUPERVISED .. BESIDE);
		if
		:: IN(running, who[place]) ->
			crashes--;
			if
			:: slain = slain | BIT(who[place])
			:: true                 /* it ends by itself */
			fi;
			exits(place)
		:: else
		fi;
		place = 0
	   }
	:: atomic { kills > 0 && alive[0] -> kills--; kill(0) }
#if RETIRERS > 1
	:: atomic { kills > 0 && alive[1] -> kills--; kill(1) }
#endif
	od
}

init {
	byte i;
	atomic {
		run Place(SUPERVISED);
		run Place(BESIDE);
#if FORGERIES
		run Stranger();
#endif
		for (i : 0 .. RETIRERS - 1) {
			run Retirer(i);
			run Command(i)
		};
		run Killer()
	}
}
