package tool

import (
	"os"
	"path/filepath"
)

func write(path string, text []byte) error { return os.WriteFile(path, text, 0o600) }

func atomically(path string, text []byte) error {
	if err := write(path+".tmp", text); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

type store struct{ dir string }

func (s store) put(owner string, text []byte) error {
	return atomically(filepath.Join(s.dir, owner+".json"), text)
}

var create = os.Create

func inOtherFunctions(dir string, s store, text []byte) {
	write(filepath.Join(dir, "cost.json"), text)      // want `cost.json is the sidecar`
	atomically(dir+"/cost.json", text)                // want `cost.json is the sidecar`
	s.put("cost", text)                               // want `cost.json is the sidecar`
	write(filepath.Join(dir, ".freehold", "x"), text) // want `only the library may write in .freehold`
	create(dir + "/cost.json")                        // want `cost.json is the sidecar`
	move := os.Rename
	move("x", dir+"/cost.json") // want `cost.json is the sidecar`
	write(filepath.Join(dir, "report.json"), text)
	atomically(dir+"/cost.json.bak", text)
	s.put("report", text)
	look(filepath.Join(dir, "cost.json"))
}

func look(path string) ([]byte, error) {
	os.WriteFile("log", []byte(path), 0o600)
	return os.ReadFile(path)
}

func inRoot(dir string, text []byte) {
	root, err := os.OpenRoot(filepath.Join(dir, ".freehold"))
	if err != nil {
		return
	}
	root.WriteFile("manifest.json", text, 0o600)             // want `only the library may write in .freehold`
	(*os.Root).WriteFile(root, "manifest.json", text, 0o600) // want `only the library may write in .freehold`
	write := root.WriteFile
	write("manifest.json", text, 0o600) // want `only the library may write in .freehold`
	root.ReadFile("manifest.json")
}
