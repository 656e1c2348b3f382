package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/freehold-dev/freehold/owners/runtime"
	"github.com/freehold-dev/freehold/reader"
)

// A program reads a field, its writer, and whether to act on it.
func Example() {
	r, err := runtime.Open("state")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	v, err := r.View(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	tokens, err := v.LastPromptTokens().Get()
	switch fresh := v.LastPromptTokens().Freshness(); {
	case errors.Is(err, reader.ErrUnset):
		fmt.Println("no prompt yet")
	case err != nil:
		log.Fatal(err) // the owner's sidecar cannot be used
	case !fresh.Fresh():
		fmt.Println("do not act on it:", fresh.Says)
	default:
		writer, _ := v.LastPromptTokens().Provenance()
		fmt.Println(tokens, "tokens, by", writer.Program)
	}
}
