package dir

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that is moved out of the directory while it is opened, as an upgrade
// does with a staged file, is no mount.
func TestAFileThatIsMovedAwayIsNoMount(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "meta")
	staged, installed := filepath.Join(below, "upgrade", "a.json"), filepath.Join(dir, "a.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(staged), 0o700), os.WriteFile(installed, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	d := open(t, below)
	var over atomic.Bool
	moved := make(chan int)
	go func() {
		n := 0
		for ; !over.Load(); n++ {
			if err := errors.Join(os.Rename(installed, staged), os.Rename(staged, installed)); err != nil {
				t.Error(err)
				break
			}
		}
		moved <- n
	}()
	found := 0
	for range 100_000 {
		switch fd, err := d.openBelow("upgrade/a.json", openFlags); {
		case err == nil:
			found++
			unix.Close(fd)
		case err != unix.ENOENT:
			t.Fatalf("%v after %d times at which it was there", err, found)
		}
	}
	over.Store(true)
	if n := <-moved; n == 0 || found == 0 {
		t.Errorf("it was moved %d times, and there %d times", n, found)
	}
}

// opens is how often a file is opened while others swap it.
func opens() int {
	if os.Getenv("FREEHOLD_TORTURE") != "" {
		return 1_000_000
	}
	return 20_000
}

// However fast a file's name is swapped for a link, a pipe or a directory, it
// is our file that is read, or it is refused; nobody waits for the pipe, and
// nothing is read or replaced through the link. Cases 83 and FF7.
func TestSwappedFileIsOursOrRefused(t *testing.T) {
	d := open(t, t.TempDir())
	outside := filepath.Join(t.TempDir(), "outside")
	at := func(name string) string { return filepath.Join(d.Path(), name) }
	err := errors.Join(
		os.WriteFile(at("cost.json"), []byte("ours"), 0o600), os.WriteFile(at("reset.json"), []byte("another's"), 0o600),
		os.WriteFile(outside, []byte("outside"), 0o600),
		os.Symlink("reset.json", at("inside-link")), os.Symlink(outside, at("outside-link")),
		unix.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("directory"), 0o700),
	)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for others := []string{"inside-link", "pipe", "outside-link", "directory"}; err == nil; others = append(others[1:], others[0]) {
			for range 2 { // there and back
				err = errors.Join(err, unix.Renameat2(d.fd, "cost.json", d.fd, others[0], unix.RENAME_EXCHANGE))
			}
			select {
			case <-stop:
				stopped <- err
				return
			default:
			}
		}
		<-stop
		stopped <- err
	}()
	read, refused := 0, 0
	for range opens() {
		switch raw, err := d.ReadFile("cost.json", nil, 100); {
		case err == nil && string(raw) == "ours":
			read++
		case errors.Is(err, ErrIrregular), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO):
			refused++
		default:
			t.Fatalf("read %q (%v)", raw, err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Skipf("names cannot be exchanged here: %v", err)
	}
	if read == 0 || refused == 0 {
		t.Errorf("read %d times and refused %d times: nothing was swapped", read, refused)
	}
	for path, want := range map[string]string{at("reset.json"): "another's", outside: "outside"} {
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%s is %q (%v)", path, got, err)
		}
	}
}

// The two ways to open a path agree, and follow no link.
func TestOpenBelowFollowsNoLink(t *testing.T) {
	d := open(t, t.TempDir())
	const file = "meta/claims/hook/fired"
	if err := errors.Join(os.MkdirAll(d.Join(filepath.Dir(file)), 0o700), os.WriteFile(d.Join(file), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	stepwise := func(path string, flags int) (int, error) { return openStepwise(d.FD(), path, flags) }
	check := func(which, path string, want error) {
		t.Helper()
		for how, open := range map[string]func(string, int) (int, error){"at once": d.openBelow, "by steps": stepwise} {
			fd, err := open(path, openFlags)
			if err == nil {
				unix.Close(fd)
			}
			if !errors.Is(err, want) && !(want == unix.ELOOP && err == unix.ENOTDIR) {
				t.Errorf("%s, %s: %v, want %v", which, how, err, want)
			}
		}
	}
	check("a file", file, nil)
	check("no file", "meta/claims/hook/nothing", unix.ENOENT)
	check("no directory", "meta/claims/nobody/fired", unix.ENOENT)
	for at := file; at != "."; at = filepath.Dir(at) {
		path := d.Join(at)
		if err := errors.Join(os.Rename(path, path+".away"), os.Symlink(path+".away", path)); err != nil {
			t.Fatal(err)
		}
		check("through the link "+at, file, unix.ELOOP)
		if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
			t.Fatal(err)
		}
	}
}
