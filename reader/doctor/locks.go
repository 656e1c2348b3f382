package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/store"
)

// locks says which locks of commits are held by processes that do not run, so
// that nobody else gets them. To hold one for a moment is what each commit does.
func (p *patient) locks() {
	p.blocked = map[string]remedy{}
	for _, owner := range p.manifest.Declaration.OwnerNames() {
		lock := store.FilesOf(owner).Lock
		before, err := p.dir.Holder(p.manifest, lock)
		if err != nil {
			continue // said already, if it is lost
		}
		h, ok := p.halted(before.PID, lock)
		if !ok {
			continue
		}
		does := "nobody commits as " + owner
		if p.manifest.Declaration.Owners[owner].Defers() {
			does = "what is committed as " + owner + " is deferred and waits"
		}
		p.blocked[owner] = goOn(h)
		says := fmt.Sprintf("process %d holds the lock and %s; until it lets go, %s", h.PID, h.Condition, does)
		p.find(LockStopped, ".freehold/"+lock, says, p.blocked[owner]).Owner = owner
	}
}

// halted reports whether process pid has the lock and does not run, nor a moment
// later: one that has just ended may be listed still.
func (p *patient) halted(pid int, lock string) (h store.Holder, ok bool) {
	for again := range 2 {
		if again > 0 {
			time.Sleep(aMoment)
		}
		var err error
		if h, err = p.dir.Holder(p.manifest, lock); err != nil || pid == 0 || h.PID != pid || h.Halt == "" {
			return h, false
		}
	}
	return h, true
}

// goOn says how a process that does not run comes to let go what it has.
func goOn(h store.Holder) remedy {
	switch {
	case h.Halt == "stopped":
		return shell("kill", "-CONT", fmt.Sprint(h.PID)).but("or end it")
	case h.Halt == "traced":
		return words("let the debugger go on with it, or end it")
	case len(h.Inheritors) == 0:
		return words("end the processes that inherited its descriptor")
	}
	var pids []string
	for _, pid := range h.Inheritors {
		pids = append(pids, fmt.Sprint(pid))
	}
	// No command: they may be at work, as a daemon is that began by forking.
	return words("look at who inherited its descriptor and keeps what it held, and end that: process " + strings.Join(pids, ", "))
}
