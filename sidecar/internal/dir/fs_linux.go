package dir

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/freehold-dev/freehold/sidecar/internal/status"
	"golang.org/x/sys/unix"
)

// The file systems on which a lock reaches every user of the directory,
// and a rename is one step. See statfs(2) for the numbers.
var local = map[int64]string{
	unix.EXT4_SUPER_MAGIC:      "ext", // ext2 and ext3 too
	unix.XFS_SUPER_MAGIC:       "XFS",
	unix.BTRFS_SUPER_MAGIC:     "Btrfs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.RAMFS_MAGIC:           "ramfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay",
	unix.F2FS_SUPER_MAGIC:      "F2FS",
	unix.NILFS_SUPER_MAGIC:     "NILFS",
	unix.REISERFS_SUPER_MAGIC:  "ReiserFS",
	unix.SQUASHFS_MAGIC:        "SquashFS", // for readers
	unix.EROFS_SUPER_MAGIC_V1:  "EROFS",    // for readers
	unix.ISOFS_SUPER_MAGIC:     "ISO 9660", // for readers
	0x2fc12fc1:                 "ZFS",
	0xca451a4e:                 "bcachefs",
	0x3153464a:                 "JFS",
}

// remote lists the file systems on which one machine's locks say nothing to
// another, or one mount's to the next: measured on NFS and FUSE, two writers
// lost up to 43 % of their updates under flock.
var remote = map[int64]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB2",
	unix.CIFS_SUPER_MAGIC:  "CIFS",
	unix.FUSE_SUPER_MAGIC:  "FUSE",
	unix.V9FS_MAGIC:        "9p",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	0x01161970:             "GFS2",
	0x0bd00bd0:             "Lustre",
	0x20030528:             "OrangeFS",
	0x19830326:             "BeeGFS",
	0x47504653:             "GPFS",
	0x786f4256:             "vboxsf",
	0xbacbacbc:             "vmhgfs",
}

// allowFS is the environment variable that names, between commas, the file
// systems that are to be used although their locks are not known to reach
// everybody: as the error that refuses one spells it, in either case. The
// machine knows which others mount the directory, and the state does not.
const allowFS = "FREEHOLD_ALLOW_FS"

// FileSystem returns the name of dir's file system, and whether that is refused.
func FileSystem(dir string) (name string, refused bool) {
	var st unix.Statfs_t
	if _, err := retry(func() (int, error) { return 0, unix.Statfs(dir, &st) }); err != nil {
		return "unknown", false
	}
	magic := int64(st.Type) & 0xffffffff
	if name, ok := local[magic]; ok {
		return name, false
	}
	if name = remote[magic]; name == "" {
		name = unknownName(magic)
	}
	if carriesLocks(dir, magic, os.Getenv(allowFS)) != nil {
		return name, true
	}
	return name + ", which " + allowFS + " allows", false
}

func unknownName(magic int64) string { return fmt.Sprintf("0x%08x", magic) }

// localFileSystem returns an error that wraps [status.Unsafe] if locks on the
// file system do not reach every user of the directory.
func localFileSystem(d *Dir) error {
	var st unix.Statfs_t
	if _, err := retry(func() (int, error) { return 0, unix.Fstatfs(d.fd, &st) }); err != nil {
		return &fs.PathError{Op: "statfs", Path: d.path, Err: err}
	}
	return carriesLocks(d.path, int64(st.Type)&0xffffffff, os.Getenv(allowFS))
}

// carriesLocks refuses a file system by its magic number unless it is local or
// among those allowed.
func carriesLocks(path string, magic int64, allowed string) error {
	if _, ok := local[magic]; ok {
		return nil
	}
	name, known := remote[magic]
	if !known {
		name = unknownName(magic)
	}
	for allowed := range strings.SplitSeq(allowed, ",") {
		if strings.EqualFold(strings.TrimSpace(allowed), name) {
			return nil
		}
	}
	why := "where locks do not reach every user of the directory"
	if !known {
		why = "a kind that is not known to carry locks"
	}
	return unsafeError(path, status.Remedy{Note: fmt.Sprintf("keep it on a local disk, or set %s=%s if this machine alone uses it, by this one mount", allowFS, name)},
		"it is on %s, %s", name, why)
}

// unmapped reports whether uid is the number that the kernel shows, in a user
// namespace such as a sandbox, in the place of every user outside: root of the
// machine too. The true owner of the file cannot be told then.
func unmapped(uid uint32) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.FormatUint(uint64(uid), 10) {
		return false
	}
	ids, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(ids)), " ") != "0 0 4294967295" // all users, as outside of sandboxes
}

// Attributes lists the extended attributes of the file path, access lists among
// them, but for the system's own labels, which every new file gets again.
func Attributes(path string) (names []string) {
	buf := make([]byte, 4<<10)
	n, err := retry(func() (int, error) { return unix.Llistxattr(path, buf) })
	if err != nil {
		return nil // the file system has none, or more than anybody reads
	}
	for name := range bytes.SplitSeq(buf[:n], []byte{0}) {
		if len(name) > 0 && !strings.HasPrefix(string(name), "security.") {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}

// Fixed reports whether the file or directory has the attribute that lets nobody
// change it, or only append (chattr +i, +a).
func Fixed(path string) bool {
	const immutable, appendOnly = 0x10, 0x20 // FS_IMMUTABLE_FL, FS_APPEND_FL
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && flags&(immutable|appendOnly) != 0
}
