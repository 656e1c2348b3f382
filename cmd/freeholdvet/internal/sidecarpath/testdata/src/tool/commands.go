package tool

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

func commands(ctx context.Context, dir string) {
	cost := filepath.Join(dir, "cost.json")
	exec.Command("rm", "-f", cost)                                          // want `cost.json is the sidecar`
	exec.CommandContext(ctx, "/bin/mv", "new.json", cost)                   // want `cost.json is the sidecar`
	exec.Command("cp", cost, "backup.json")                                 // it only reads
	exec.Command("cp", "--", "new.json", cost)                              // want `cost.json is the sidecar`
	exec.Command("sudo", "tee", "-a", cost)                                 // want `cost.json is the sidecar`
	exec.Command("sed", "-i", "s/1/2/", cost)                               // want `cost.json is the sidecar`
	exec.Command("sed", "s/1/2/", cost)                                     // it only reads
	exec.Command("dd", "if=/dev/null", "of="+cost)                          // want `cost.json is the sidecar`
	exec.Command("rm", "-rf", filepath.Join(dir, ".freehold"))              // want `only the library may write in .freehold`
	exec.Command("cat", cost)                                               // it only reads
	exec.Command("rm", filepath.Join(dir, "report.json"))                   // it is nobody's
	exec.Command("freehold", "quarantine", "cost")                          // RIGHT
	exec.Command("git", "rm", cost)                                         // which commands others know, it does not
	exec.Command("sh", "-c", "jq . "+cost+" >new; mv new '"+cost+"'")       // want `cost.json is the sidecar`
	exec.Command("bash", "-ec", fmt.Sprintf("echo {} > %s/cost.json", dir)) // want `cost.json is the sidecar`
	exec.Command("sh", "-c", "cat "+cost+" | tee report.json 2>&1")         // it only reads
	exec.Command("sh", "-c", "if test -e x; then rm $DIR/cost.json; fi")    // want `cost.json is the sidecar`
	exec.Command("sh", "-c", "echo 'rm cost.json'")                         // it only says so
	exec.Command("sh", "-c", "cat <<END >report.json\nrm cost.json\nEND")   // it only says so
	args := []string{"-f", cost}
	exec.Command("rm", args...) // want `cost.json is the sidecar`
	remove(cost)                // want `cost.json is the sidecar`
	for _, name := range []string{"report.json", "cost.json"} {
		exec.Command("rm", filepath.Join(dir, name)) // want `cost.json is the sidecar`
	}
}

func remove(path string) error { return exec.Command("rm", path).Run() }
