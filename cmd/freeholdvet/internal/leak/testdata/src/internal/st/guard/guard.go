// Package guard is a home in an internal folder, which the module can import.
package guard

import "m/internal/st/guard/internal/guardfile"

func With(fn func(guardfile.Tx)) {} // want `guard.With mentions m/internal/st/guard/internal/guardfile, so importers of m/internal/st/guard can come by its writer`
