package tool

import (
	"os"
	"path/filepath"
)

func inSteps(dir, name string, yes bool) {
	path := dir
	path += "/cost.json"
	os.Remove(path) // want `cost.json is the sidecar`
	path += ".bak"
	os.Remove(path)
	path = filepath.Join(dir, "cost.json")
	if yes {
		os.Remove(path) // want `cost.json is the sidecar`
	}
	os.ReadFile(path)
	path = filepath.Dir(path)
	os.Remove(path)

	var whole string
	whole += dir + "/"
	whole += "cost" + ".json"
	os.Remove(whole) // want `cost.json is the sidecar`

	either := dir + "/cost.json"
	if yes {
		either = "report.json"
	}
	os.Remove(either) // it is one or the other

	grows := "cost"
	for range 3 {
		os.Remove(grows + ".json")
		grows += "x"
	}
	stolen := "cost.json"
	change(&stolen)
	stolen += ""
	os.Remove(stolen)
	called := "cost.json"
	func() { called = "report.json" }()
	os.Remove(called)
	switch report := "report.json"; {
	case yes:
		report = "cost.json"
		os.Remove(report) // want `cost.json is the sidecar`
	default:
		os.Remove(report)
	}
}

func change(*string) {}

func temporary(path string) {
	os.ReadFile(path)
	path += ".tmp"
	os.WriteFile(path, nil, 0o600)
}

func extended(path string) {
	path += ".json"
	os.WriteFile(path, nil, 0o600)
}

func callsThem(dir string) {
	temporary(dir + "/cost.json")
	extended(dir + "/cost") // want `cost.json is the sidecar`
	extended("cost")        // want `cost.json is the sidecar`
}

var files = map[string]string{"money": "cost.json", "page": "report.json"}

func inMaps(dir string, kind string) {
	for _, name := range map[string]string{"a": "report.json", "b": "cost.json"} {
		os.Remove(filepath.Join(dir, name)) // want `cost.json is the sidecar`
	}
	for name := range map[string]bool{"cost.json": true} {
		os.Remove(filepath.Join(dir, name)) // want `cost.json is the sidecar`
	}
	for kind, name := range files {
		os.Remove(filepath.Join(dir, kind))
		os.ReadFile(filepath.Join(dir, name))
		name += ".bak"
		os.Remove(filepath.Join(dir, name))
	}
	os.Remove(filepath.Join(dir, files["money"])) // want `cost.json is the sidecar`
	os.Remove(filepath.Join(dir, files["page"]))
	os.Remove(filepath.Join(dir, files[kind])) // it is one or the other
	list := []string{"report.json", "cost.json"}
	os.Remove(list[0])
	os.Remove(list[1]) // want `cost.json is the sidecar`
	filled := map[string]string{"a": "cost.json"}
	filled["a"] = "report.json"
	os.Remove(filled["a"])
}
