package document_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/document"
	"github.com/freehold-dev/freehold/sidecar/internal/process"
	"github.com/freehold-dev/freehold/sidecar/internal/status"
)

// Another hand's edit is told from Freehold's own writing, and its values can
// be folded.
func Example() {
	d := document.New("cost", "0123456789abc")
	v := document.Version{Epoch: 1786439564031000, Revision: 1, Nonce: process.NewNonce()}
	at := time.Date(2026, 8, 11, 9, 12, 44, 0, time.UTC)
	d.Commit(v, at, document.Writer{Program: "stop-hook", Identity: process.Self()})
	d.Set("turns", []byte("12"), document.Provenance{Version: v, At: at, Program: "stop-hook", PID: process.Self().PID})
	text, err := d.Encode()
	if err != nil {
		fmt.Println(err)
		return
	}

	edited := strings.Replace(string(text), `"turns":12`, `"turns":99`, 1)
	_, err = document.Decode([]byte(edited))
	fmt.Println(errors.Is(err, status.Foreign), err)

	foreign, err := document.DecodeForeign([]byte(edited))
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, by, _ := foreign.Field("turns")
	fmt.Printf("%s, last by %s\n", raw, by.Program)
	// Output:
	// true changed by a hand other than Freehold's
	// 99, last by stop-hook
}
