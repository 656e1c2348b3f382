package gen_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/freehold-dev/freehold/gen"
	"github.com/freehold-dev/freehold/schema/declare"
)

// An owner's writer package has the operations of that owner, and no others.
func ExampleGenerate() {
	src, err := declare.Parse("owners.yaml", "owners/agent", []byte(`
state: agent
owners:
  cost:
    fields:
      total_usd: {type: decimal, kind: counter}
  reset:
    fields:
      cleared: {type: bool}
`))
	if err != nil {
		log.Fatal(err)
	}
	files, err := gen.Generate(src, "example.com/demo")
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		fmt.Println(file.Path)
		for line := range strings.Lines(string(file.Data)) {
			if method, ok := strings.CutPrefix(line, "func (tx Tx) "); ok && !strings.Contains(method, "Version") {
				fmt.Println("  " + strings.TrimSuffix(method, " {\n"))
			}
		}
	}
	// Output:
	// owners/agent/OWNERS.md
	// owners/agent/agenttest/agenttest.go
	// owners/agent/cost/internal/costfile/costfile.go
	//   TotalUSD() sidecar.Counter[decimal.Decimal]
	// owners/agent/freehold.go
	// owners/agent/freehold_cost_fields.go
	// owners/agent/freehold_reset_fields.go
	// owners/agent/reset/internal/resetfile/resetfile.go
	//   Cleared() sidecar.Value[bool]
	// owners/agent/schema/cost.patch.schema.json
	// owners/agent/schema/cost.schema.json
	// owners/agent/schema/owners.schema.json
	// owners/agent/schema/reset.patch.schema.json
	// owners/agent/schema/reset.schema.json
	// owners/agent/schema/view.schema.json
}
