package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

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
	dir := filepath.Join(t.TempDir(), "state")
	if err := Create(dir, declaration()); err != nil {
		t.Fatal(err)
	}
	d := openState(t, dir)
	outside := filepath.Join(t.TempDir(), "outside")
	at := func(name string) string { return filepath.Join(d.path, name) }
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
				err = errors.Join(err, unix.Renameat2(d.state.fd, "cost.json", d.state.fd, others[0], unix.RENAME_EXCHANGE))
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
