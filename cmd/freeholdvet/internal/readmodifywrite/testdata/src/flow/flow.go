package flow

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"log"
	"os"
)

func branches(path string, reads bool) []byte {
	if reads {
		text, _ := os.ReadFile(path)
		return text
	}
	os.WriteFile(path, nil, 0o600)
	return nil
}

func either(path, mode string, text []byte) {
	switch mode {
	case "read":
		text, _ = os.ReadFile(path)
	case "write":
		os.WriteFile(path, text, 0o600)
	}
}

func dies(path string) {
	if text, err := os.ReadFile(path); err == nil {
		log.Fatalf("%s is there: %s", path, text)
	}
	os.WriteFile(path, nil, 0o600)
}

func perFile(paths []string) {
	for _, path := range paths {
		os.WriteFile(path, nil, 0o600)
		text, _ := os.ReadFile(path)
		_ = len(text)
	}
}

func eachFile(paths []string) {
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		os.WriteFile(path, append(text, '\n'), 0o600) // want `read at flow.go:47`
	}
}

func around(path string) {
	var text []byte
	for range 2 {
		os.WriteFile(path, append(text, '\n'), 0o600) // want `read at flow.go:56`
		text, _ = os.ReadFile(path)
	}
}

func reassigned(path, other string) {
	text, _ := os.ReadFile(path)
	path = other
	os.WriteFile(path, text, 0o600)
}

func reassignedField(s struct{ path string }, other string) {
	text, _ := os.ReadFile(s.path)
	s.path = other
	os.WriteFile(s.path, text, 0o600)
}

func cleaned(path string) {
	text, _ := os.ReadFile(path)
	if path[0] == '~' {
		path = os.Getenv("HOME") + path[1:]
	}
	os.WriteFile(path, text, 0o600) // want `read at flow.go:73`
}

func restores(path string) {
	text, _ := os.ReadFile(path)
	defer os.WriteFile(path, text, 0o600) // want `read at flow.go:81`
}

func inClosure(path string, with func(func())) {
	text, _ := os.ReadFile(path)
	with(func() {
		os.WriteFile(path, append(text, '\n'), 0o600) // want `read at flow.go:86`
	})
}

// Two functions beside each other may be two commands.
func siblings(path string) (get func() []byte, set func([]byte)) {
	get = func() []byte {
		text, _ := os.ReadFile(path)
		return text
	}
	set = func(text []byte) { os.WriteFile(path, text, 0o600) }
	return get, set
}

func nested(path string) {
	func() {
		text, _ := os.ReadFile(path)
		os.WriteFile(path, text, 0o600) // want `read at flow.go:104`
	}()
}

// What was not read cannot be in what is written.
func creates(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(path, []byte("{}"), 0o600)
	}
	if err == io.EOF {
		return os.WriteFile(path, []byte("{}"), 0o600)
	}
	if err != nil || len(text) == 0 {
		return err
	}
	return nil
}

func createsElse(path string, ok bool) error {
	if text, err := os.ReadFile(path); err == nil && ok || !(err != nil) {
		log.Print(text)
	} else {
		return os.WriteFile(path, []byte("{}"), 0o600)
	}
	return nil
}

func anotherError(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	err = os.Remove("x")
	if err != nil {
		os.WriteFile(path, append(text, '\n'), 0o600) // want `read at flow.go:134`
	}
}

func anotherEachTime(next func() string) {
	for range 2 {
		path := next()
		os.WriteFile(path, nil, 0o600)
		os.ReadFile(path)
		path2 := os.Getenv("NEXT")
		os.WriteFile(path2, nil, 0o600)
		os.ReadFile(path2)
	}
}

func laterNamed(dir string) {
	text, _ := os.ReadFile(dir + "/x")
	path := dir + "/x"
	os.WriteFile(path, append(text, '\n'), 0o600) // want `read at flow.go:156`
}

func oneOfTwo(path, other string, elsewhere bool) {
	text, _ := os.ReadFile(path)
	if elsewhere {
		path = other
	}
	os.WriteFile(path, append(text, '\n'), 0o600) // want `read at flow.go:162`
}

func readsOrGoesOn(path, other string, first bool) {
	var text []byte
	if first {
		text, _ = os.ReadFile(path)
		path = other
	}
	os.WriteFile(path, text, 0o600)
}

// The deferred call makes a variable in memory of the result.
func namedError(path string) (err error) {
	defer func() { log.Print(err) }()
	_, err = os.Open("lock")
	if err != nil {
		return err
	}
	var text []byte
	text, err = os.ReadFile(path)
	if err != nil {
		return os.WriteFile(path, []byte("{}"), 0o600)
	}
	log.Print(text)
	return nil
}

func overFunctions(paths iter.Seq[string], path string) {
	for range paths {
		text, _ := os.ReadFile(path)
		log.Print(text)
	}
	for range paths {
		os.WriteFile(path, nil, 0o600) // want `read at flow.go:196`
	}
}
