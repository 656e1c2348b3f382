//go:build !unix

package doctor

// namesAndUser cannot tell.
func namesAndUser(string) (names, user int) { return -1, -1 }
