//go:build !linux

package store

// Judge cannot tell outside Linux.
func (id Identity) Judge() (Verdict, string) {
	return CannotJudge, "this system has no identities of processes"
}

// Condition returns "" outside Linux.
func Condition(pid int) string { return "" }

// IdentityOf returns [ErrUnsupported] outside Linux.
func IdentityOf(pid int) (Identity, error) { return Identity{}, ErrUnsupported }
