package tool

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
)

const file = "cost.json"

var ours = filepath.Join("state", file)

func sidecar(dir, owner string) string { return filepath.Join(dir, owner+".json") }

func constant(text []byte) {
	os.WriteFile("cost.json", text, 0o600)           // want `cost.json is the sidecar of owner cost, as owners/runtime/owners.yaml declares, and writing it makes it foreign: call a verb that owners/runtime/cost exports; where the file is another one of that name, allow it: //freehold:allow sidecarpath REASON`
	os.WriteFile("state/"+file, text, 0o600)         // want `cost.json is the sidecar`
	os.WriteFile(ours, text, 0o600)                  // want `cost.json is the sidecar`
	os.WriteFile("state/watchdog.json", text, 0o600) // want `watchdog.json is the sidecar of owner watchdog, as owners/runtime/owners.yaml declares, and writing it makes it foreign: call a verb that cmd/watchdog exports`
	os.WriteFile("reset.json", text, 0o600)
	os.WriteFile("report.json", text, 0o600)
	os.WriteFile("cost.json.bak", text, 0o600)
	os.WriteFile("cost.json/x", text, 0o600)
	os.ReadFile("cost.json")
	os.Open("cost.json")
}

func computed(dir, name string, text []byte) {
	os.WriteFile(filepath.Join(dir, file), text, 0o600)               // want `cost.json is the sidecar`
	os.WriteFile(path.Join(dir, "a", "..", file), text, 0o600)        // want `cost.json is the sidecar`
	os.WriteFile(dir+"/cost.json", text, 0o600)                       // want `cost.json is the sidecar`
	os.WriteFile(fmt.Sprintf("%s/cost.json", dir), text, 0o600)       // want `cost.json is the sidecar`
	os.WriteFile(fmt.Sprintf("%s/%s.json", dir, "cost"), text, 0o600) // want `cost.json is the sidecar`
	os.WriteFile(filepath.Clean(sidecar(dir, "cost")), text, 0o600)   // want `cost.json is the sidecar`
	target := filepath.Join(dir, file)
	os.WriteFile(target, text, 0o600) // want `cost.json is the sidecar`
	func() {
		os.WriteFile(target, text, 0o600) // want `cost.json is the sidecar`
	}()
	os.WriteFile(dir+"cost.json", text, 0o600) // may be x-cost.json
	os.WriteFile(fmt.Sprintf("%scost.json", dir), text, 0o600)
	os.WriteFile(fmt.Sprintf("%s/%5s.json", dir, "cost"), text, 0o600)
	os.WriteFile(sidecar(dir, name), text, 0o600)
	other := filepath.Join(dir, file)
	if name != "" {
		other = filepath.Join(dir, name)
	}
	os.WriteFile(other, text, 0o600)
}

func everyWay(dir string, root *os.Root, text []byte) {
	target := filepath.Join(dir, file)
	os.Create(target)                               // want `cost.json is the sidecar`
	os.OpenFile(target, os.O_APPEND|os.O_WRONLY, 0) // want `cost.json is the sidecar`
	os.OpenFile(target, os.O_RDWR, 0)               // want `cost.json is the sidecar`
	os.OpenFile(target, os.O_RDONLY, 0)
	os.OpenFile(target, os.O_CREATE|os.O_EXCL, 0) // want `cost.json is the sidecar`
	os.Rename("x", target)                        // want `cost.json is the sidecar`
	os.Rename(target, "x")                        // want `cost.json is the sidecar`
	os.Remove(target)                             // want `cost.json is the sidecar`
	os.Truncate(target, 0)                        // want `cost.json is the sidecar`
	os.Link(target, "x")                          // want `cost.json is the sidecar`
	os.Symlink("x", target)                       // want `cost.json is the sidecar`
	os.Symlink(target, "x")
	root.WriteFile("cost.json", text, 0o600)   // want `cost.json is the sidecar`
	root.Rename("x", "cost.json")              // want `cost.json is the sidecar`
	root.OpenFile("cost.json", os.O_WRONLY, 0) // want `cost.json is the sidecar`
	root.ReadFile("cost.json")
}

func private(dir, name string) {
	os.RemoveAll(filepath.Join(dir, ".freehold"))            // want "only the library may write in .freehold: call `freehold state repair` or the verbs of an owner's home"
	os.Remove(filepath.Join(dir, ".freehold", name))         // want `only the library may write in .freehold`
	os.WriteFile(dir+"/.freehold/manifest.json", nil, 0o600) // want `only the library may write in .freehold`
	os.Stat(filepath.Join(dir, ".freehold"))
	os.Remove(filepath.Join(dir, ".freehold-report"))
}

func allowed(dir string, text []byte) {
	//freehold:allow sidecarpath this is the report for the web page
	os.WriteFile(filepath.Join(dir, "web", "cost.json"), text, 0o600)
}
