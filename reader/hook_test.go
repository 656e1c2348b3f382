package reader

import _ "unsafe" // for go:linkname

// afterPatches is called by store after each reading of an owner's pending
// patches, before it reads the sidecar. Only tests set it, so store does not
// export it.
//
//go:linkname afterPatches github.com/freehold-dev/freehold/sidecar/store.afterPatches
var afterPatches func()
