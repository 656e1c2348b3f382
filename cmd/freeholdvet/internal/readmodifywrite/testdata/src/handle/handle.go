package handle

import (
	"encoding/json"
	"io"
	"os"
)

func decodes(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	var v map[string]int
	json.NewDecoder(f).Decode(&v)
	v["count"]++
	out, err := os.Create(path) // want `read at handle.go:16`
	if err != nil {
		return
	}
	json.NewEncoder(out).Encode(v)
}

func readsAll(path string) {
	text, _ := io.ReadAll(must(os.Open(path)))
	os.WriteFile(path, append(text, '\n'), 0o600) // want `read at handle.go:26`
}

func must(f *os.File, err error) *os.File { return f }

func inPlace(path string) {
	f, _ := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	defer f.Close()
	text, _ := io.ReadAll(f)
	f.Truncate(0) // want `read at handle.go:35`
	f.Seek(0, io.SeekStart)
	f.Write(append(text, '\n'))
}

func truncates(path string) {
	f, _ := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	f.Truncate(0)
	f.Close()
}

func onlyLooks(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	info, _ := f.Stat()
	f.Close()
	if info.Size() == 0 {
		os.WriteFile(path, []byte("{}"), 0o600)
	}
}

func flagsUnknown(path string, flags int) {
	text, _ := os.ReadFile(path)
	f, _ := os.OpenFile(path, flags, 0)
	f.Write(text)
}
