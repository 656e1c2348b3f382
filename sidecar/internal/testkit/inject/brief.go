package inject

import "os"

// thorough is whether plans are taken as they stand. It takes several times as long; .ci/run asks for it.
var thorough = os.Getenv("FREEHOLD_EVERY_CALL") != ""

// changes are the calls that other processes can see, or that wait for them.
var changes = []string{
	"openat", "mkdirat", "write", "pwrite64", "ftruncate", "fallocate", "fchmod", "fchmodat", "fchown", "fsync", "fdatasync",
	"renameat", "renameat2", "linkat", "symlinkat", "unlinkat", "flock", "fcntl",
}

// AtChanges returns p for the calls alone that other processes can see. A process killed before any other call has left behind the files that it
// leaves when he is killed before the next of these. If the environment variable FREEHOLD_EVERY_CALL is set, it returns p as it is.
func (p Plan) AtChanges() Plan {
	if !thorough {
		p.Calls, p.Only = changes, changing
	}
	return p
}

// Among returns p for the calls of these names alone: their failures stand for those of the others. If the environment variable
// FREEHOLD_EVERY_CALL is set, it returns p as it is.
func (p Plan) Among(names ...string) Plan {
	if !thorough {
		p.Calls = names
	}
	return p
}

// Thorough reports whether the environment variable FREEHOLD_EVERY_CALL is set, and so whether there is time for variants of a plan that
// are likely to find nothing which the others do not.
func Thorough() bool { return thorough }
