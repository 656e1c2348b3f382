package statedir

// taken reports whether a process has the lock, or may have it: in another PID
// namespace than /proc is of, nothing can be said.
func (l *Lock) taken() (bool, error) {
	return l.Holder() != 0 || !ownProc() || l.Heir() != 0, nil
}
