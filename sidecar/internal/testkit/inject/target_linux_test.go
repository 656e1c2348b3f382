//go:build amd64 || arm64

package inject_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/freehold-dev/freehold/sidecar/internal/testkit/inject"
	"github.com/freehold-dev/freehold/sidecar/scratch"
)

func init() { scratch.Guard() }

// targetVariable makes the test binary run one of targets instead of the tests.
const targetVariable = "INJECT_TEST_TARGET"

func TestMain(m *testing.M) {
	inject.Main()
	if target, ok := targets[os.Getenv(targetVariable)]; ok {
		inject.Begin()
		err := target(os.Args[1])
		inject.End()
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// targets work on a file that holds oldText.
var targets = map[string]func(file string) error{
	"truncate": func(file string) error { return os.WriteFile(file, []byte(newText), 0o600) },
	"rename":   renameWriter,
	"threads":  threads,
	"child": func(file string) error {
		return exec.Command("/bin/sh", "-c", `: >"$1"`, "sh", file+".child").Run()
	},
	"retry": func(file string) error {
		var err error
		for range 3 {
			if err = os.Mkdir(file+".dir", 0o700); err == nil {
				return nil
			}
		}
		return err
	},
	"signals": signals,
	"timers":  timers,
	"sleep":   func(string) error { time.Sleep(time.Minute); return nil },
}

const (
	oldText = "old, whole\n"
	newText = "new, and whole too\n"
)

func renameWriter(file string) error {
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	temp, err := os.OpenFile(file+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = temp.WriteString(newText)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(file+".tmp", file); err != nil {
		return err
	}
	return dir.Sync()
}

// threads makes 8 times 10 calls on as many threads.
func threads(file string) error {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			runtime.LockOSThread()
			for j := range 10 {
				syscall.Mkdir(fmt.Sprintf("%s.%d.%d", file, i, j), 0o700)
			}
		})
	}
	group.Wait()
	return nil
}

// signals makes 10 calls while another thread keeps interrupting this one, as Go's preemption does now and then.
func signals(file string) error {
	runtime.LockOSThread()
	thread, stop := syscall.Gettid(), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				syscall.Tgkill(os.Getpid(), thread, syscall.SIGURG)
			}
		}
	})
	for i := range 10 {
		syscall.Mkdir(fmt.Sprintf("%s.%d", file, i), 0o700)
	}
	close(stop)
	group.Wait()
	return nil
}

// timers makes the runtime wake the thread that waits for the next timer, which it does by writing to an eventfd.
func timers(string) error {
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	defer in.Close()
	go in.Read(make([]byte, 1))
	for range 20 {
		time.Sleep(time.Millisecond)
		time.AfterFunc(100*time.Microsecond, func() {})
	}
	return nil
}

// target returns the command and its file, fresh.
func target(t testing.TB, name string) (inject.Command, string) {
	t.Helper()
	if err := inject.Available(); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(file, []byte(oldText), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return inject.Command{Path: self, Args: []string{file}, Env: append(os.Environ(), targetVariable+"="+name)}, file
}

func run(t testing.TB, c inject.Command, p inject.Plan) inject.Result {
	t.Helper()
	result, err := inject.Run(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
