package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/freehold-dev/freehold/cmd/internal/failure"
	"github.com/freehold-dev/freehold/sidecar/store"
)

// A repository is the Git repository around a module.
type repository struct {
	dir     string // of the module
	top     string // of the work tree
	prefix  string // the module's path in it, "" or with a slash at the end
	shallow bool
}

// open finds the repository around dir.
func open(ctx context.Context, dir string) (*repository, error) {
	r := &repository{dir: dir}
	out, err := r.git(ctx, "", "rev-parse", "--show-toplevel", "--show-prefix", "--is-shallow-repository")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 3 {
		return nil, failure.Usage("%s: Git names no work tree", dir)
	}
	r.top, r.prefix, r.shallow = lines[0], lines[1], lines[2] == "true"
	return r, nil
}

// git runs git in the module and returns its output. That no comparison is possible
// is misuse, whichever way git fails: never an empty answer.
func (r *repository) git(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.dir}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	cmd.Stdin = strings.NewReader(stdin)
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, store.WithRemedy(failure.Usage("cannot compare: git is not installed"), store.Remedy{Note: "install git, or compare with a directory"})
	}
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(says.String()), "\n")
		if first == "" {
			first = err.Error()
		}
		return nil, failure.As(fmt.Errorf("cannot compare: git %s: %s", args[0], first), failure.Misused)
	}
	return out.Bytes(), nil
}

// commit returns the commit that name means: a branch, tag or commit here, or else a
// branch of origin.
func (r *repository) commit(ctx context.Context, name string) (string, error) {
	for _, spec := range []string{name, "refs/remotes/origin/" + name} {
		out, err := r.git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", spec+"^{commit}")
		if err == nil {
			return strings.TrimSpace(string(out)), nil
		}
	}
	err := failure.Usage("cannot compare: %s is no branch, tag or commit here, and no file or directory", name)
	if r.shallow {
		return "", store.WithRemedy(err, store.Remedy{Note: "the clone is shallow: fetch the branch", Tool: []string{"git", "fetch", "--depth=1", "origin", name}})
	}
	return "", store.WithRemedy(err, store.Remedy{Tool: []string{"git", "fetch", "origin", name}})
}

// base returns the commit at which the work tree and commit parted. A shallow clone
// may not have it: then commit itself is as near as can be, and alone is false.
func (r *repository) base(ctx context.Context, name, commit string) (base string, known bool, err error) {
	if _, err := r.git(ctx, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return "", false, failure.Usage("cannot compare: the repository in %s has no commit yet", r.top)
	}
	out, err := r.git(ctx, "", "merge-base", "HEAD", commit)
	switch {
	case err == nil:
		return strings.TrimSpace(string(out)), true, nil
	case r.shallow:
		return commit, false, nil
	}
	return "", false, failure.Usage("cannot compare: HEAD and %s have no commit in common", name)
}

// A blob is a file at a commit.
type blob struct {
	mode, path string // path is relative to the module
}

const (
	linkMode      = "120000"
	submoduleMode = "160000"
)

// list lists the files of the module at a commit.
func (r *repository) list(ctx context.Context, commit string) (all []blob, err error) {
	args := []string{"ls-tree", "-r", "-z", "--full-tree", commit}
	if r.prefix != "" {
		args = append(args, "--", r.prefix)
	}
	out, err := r.git(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		head, name, ok := strings.Cut(entry, "\t")
		if mode, _, found := strings.Cut(head, " "); ok && found {
			all = append(all, blob{mode, strings.TrimPrefix(name, r.prefix)})
		}
	}
	return all, nil
}

// read returns the texts of files at a commit, in their order. It follows symbolic
// links within the commit.
func (r *repository) read(ctx context.Context, name, commit string, paths []string) (texts [][]byte, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, path := range paths {
		if strings.Contains(path, "\n") {
			return nil, failure.Usage("cannot compare: %s has a file %q, with a line end in its path", name, path)
		}
		fmt.Fprintf(&in, "%s:%s%s\n", commit, r.prefix, path)
	}
	out, err := r.git(ctx, in.String(), "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		var id, kind string
		var size int
		if n, _ := fmt.Sscanf(string(head), "%s %s %d", &id, &kind, &size); n != 3 || kind != "blob" || size >= len(rest) {
			return nil, failure.Usage("cannot compare: %s:%s is a symbolic link out of the commit, or no file", name, path)
		}
		texts, out = append(texts, rest[:size]), rest[size+1:]
	}
	return texts, nil
}
