package sidecar

import (
	"github.com/freehold-dev/freehold/schema/errorstest"
)

// said keeps what the errors of the package say.
var said = errorstest.Golden{
	Update: updateGoldens,
	Also:   []string{"refusals.txt"},
	Wraps:  []string{"internal/lease", "internal/document", "store", "internal/statedir", "internal/status", "internal/dir", "internal/claims", "internal/lock", "internal/apply", "internal/pending"},
	Untold: map[string]string{
		"the update's function did not return":                                              "nobody sees it but a deferred function of the one that did not return",
		"%w: the new version is visible and may not survive a crash: %w":                    "wants a directory that cannot be synced, as the injector makes it for the crash tests",
		"%w: patches that are folded may come back after a crash: %w; open the owner again": "wants a directory that cannot be synced, as the injector makes it for the crash tests",
		"%w: the patch %s is deferred and may not survive a crash: %w; ask Resolve":         "wants the same",
		"%s: nothing was changed: %w; mend that and try again":                              "wants a disk that fails, as the injector makes it",
	},
	Unhelped: map[string]string{
		"claim: made where nobody looks": "stands for an error of package store, which ends with what to do",
		"quarantine: there is nothing":   "is an answer, from which only the caller knows what follows",
	},
}
