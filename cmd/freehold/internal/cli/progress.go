package cli

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// A Progress is a line on standard error that tells how far long work is. Only a
// terminal has it, and only after a moment; it goes before anything else is written.
// It is safe for concurrent use.
type Progress struct {
	call  *Call
	width int
	doing string
	began time.Time
	end   chan struct{}

	mu          sync.Mutex
	done, total int
	drawn       bool
}

// moment is how long work goes on before it shows, and how often the line changes.
const moment = 300 * time.Millisecond

// Progress begins the line for work, as in "examining instances". The work has to end
// it with [Progress.End].
func (c *Call) Progress(doing string) *Progress {
	p := &Progress{call: c, doing: doing, began: time.Now(), end: make(chan struct{})}
	f, ok := c.Stderr.(*os.File)
	if kind := os.Getenv("TERM"); !ok || !term.IsTerminal(f.Fd()) || kind == "" || kind == "dumb" {
		return p
	}
	if p.width, _, _ = term.GetSize(f.Fd()); p.width <= 0 {
		p.width = 80
	}
	c.Before = p.pause
	go p.run()
	return p
}

func (p *Progress) run() {
	tick := time.NewTicker(moment)
	defer tick.Stop()
	for {
		select {
		case <-p.end:
			return
		case <-tick.C:
			p.draw()
		}
	}
}

// At tells how many parts of the work are done, and of how many.
func (p *Progress) At(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = done, total
}

func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.end: // a line now would stay
		return
	default:
	}
	text := p.doing
	if p.total > 0 {
		text += fmt.Sprintf(" %d of %d", p.done, p.total)
	}
	text += fmt.Sprintf(" (%d s)", int(time.Since(p.began).Seconds()))
	fmt.Fprint(p.call.Stderr, "\r\x1b[K"+ansi.Truncate(text, p.width-1, ""))
	p.drawn = true
}

// pause takes the line away; the next tick draws it again.
func (p *Progress) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.call.Stderr, "\r\x1b[K")
		p.drawn = false
	}
}

// End takes the line away for good.
func (p *Progress) End() {
	p.mu.Lock()
	select {
	case <-p.end:
	default:
		close(p.end)
	}
	p.mu.Unlock()
	p.pause()
}
