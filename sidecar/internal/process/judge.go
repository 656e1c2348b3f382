package process

// A Verdict says whether the process of an [Identity] lives.
type Verdict int

// The verdicts.
const (
	// CannotJudge: the identity is of another boot or another PID
	// namespace, where its process id means nothing here, or has nothing
	// that could be compared. Only a kernel lock can tell.
	CannotJudge Verdict = iota
	// Alive: the process exists.
	Alive
	// Gone: the process has ended; its id may be another process's now.
	Gone
)

// String returns the verdict in words.
func (v Verdict) String() string {
	switch v {
	case Alive:
		return "alive"
	case Gone:
		return "gone"
	}
	return "cannot judge"
}

// Same reports whether the two can be one process: no member that both know
// differs. It is no proof of being alive, see [Identity.Judge].
func (id Identity) Same(other Identity) bool {
	return id.PID == other.PID &&
		agree(id.Boot, other.Boot) && agree(id.PIDNamespace, other.PIDNamespace) &&
		agree(id.Nonce, other.Nonce) && id.sameStart(other)
}

// sameStart compares the members that differ between processes of one number:
// the inodes of their pidfds if both are known, else the start times, which
// look different from another time namespace.
func (id Identity) sameStart(other Identity) bool {
	if id.PIDFD != 0 && other.PIDFD != 0 {
		return id.PIDFD == other.PIDFD
	}
	return agree(id.Start, other.Start)
}

func agree[T comparable](a, b T) bool {
	var unknown T
	return a == b || a == unknown || b == unknown
}

// Here returns why process ids in id mean nothing to this process, or "".
func (id Identity) Here() string {
	switch me := Self(); {
	case !OwnProc():
		return "the /proc here is not that of this process's PID namespace"
	case id.Boot == "" || me.Boot == "":
		return "it is not known on which boot it ran"
	case id.Boot != me.Boot:
		return "it ran before the last boot, or on another machine"
	case id.PIDNamespace == 0 || me.PIDNamespace == 0:
		return "it is not known in which PID namespace it ran"
	case id.PIDNamespace != me.PIDNamespace:
		return "it ran in another PID namespace"
	}
	return ""
}

// A Halt is why a process does not run and will not by itself: "stopped" by
// SIGSTOP or the like, so that SIGCONT lets it go on; "traced" by a debugger; or
// "ended". A process that waits for a device counts as running, since every
// commit waits for one.
type Halt string

// The reasons.
const (
	Running Halt = ""
	Stopped Halt = "stopped"
	Traced  Halt = "traced"
	Ended   Halt = "ended"
)

// Condition returns [HaltOf]'s words: why process pid does not run, or "".
func Condition(pid int) string {
	_, words := HaltOf(pid)
	return words
}
