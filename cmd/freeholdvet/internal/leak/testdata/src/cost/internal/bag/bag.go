package bag

import "m/cost/internal/costfile"

type Bag struct{ Writer *costfile.Writer }
