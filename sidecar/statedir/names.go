package statedir

// Sidecar names the file of an owner.
func Sidecar(owner string) string { return owner + ".json" }

// OwnerLock names the lock that every commit of an owner holds.
func OwnerLock(owner string) string { return owner + ".lock" }

// OwnerLease names the lock that the live process of an exclusive owner holds.
func OwnerLease(owner string) string { return owner + ".lease" }

// OwnerFence names the lock that keeps successors from the lease.
func OwnerFence(owner string) string { return owner + ".fence" }

// OwnerRecord names the file in .freehold that says who holds the lease of an
// exclusive owner. It is for people and for retiring, never a lock.
func OwnerRecord(owner string) string { return owner + ".lease.json" }
