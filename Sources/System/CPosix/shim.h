#pragma once
// Linux calls that Swift's Glibc module lacks: they are variadic, or need _GNU_SOURCE, which a
// module map cannot set. Each returns -1 and sets errno on failure, as the call itself does.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <fcntl.h>
#include <unistd.h>

/// Renames unless something has the new name already (EEXIST).
static inline int posix_rename_new(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

/// The same for names in open folders.
static inline int posix_rename_new_at(int from_folder, const char *from, int to_folder,
                                      const char *to) {
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, RENAME_NOREPLACE);
}

/// Opens or makes a file in an open folder.
static inline int posix_open_at(int folder, const char *path, int flags, mode_t mode) {
  return openat(folder, path, flags, mode);
}

/// Starts writing a stretch of a file to the disk and does not wait for it.
static inline int posix_start_writeback(int file, off_t offset, off_t count) {
  const unsigned int write = 2;  // SYNC_FILE_RANGE_WRITE
  return (int)syscall(SYS_sync_file_range, file, offset, count, write);
}

/// Lets one file share another's blocks.
static inline int posix_clone(int to, int from) { return ioctl(to, FICLONE, from); }

/// Copies inside the kernel from one file's position to another's.
static inline ssize_t posix_copy_range(int from, int to, size_t count) {
  return syscall(SYS_copy_file_range, from, (void *)0, to, (void *)0, count, 0U);
}

/// Gives back the room that a stretch of a file takes; its length stays.
static inline int posix_punch_hole(int descriptor, off_t offset, off_t length) {
  // Mode 3 is FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE.
  return (int)syscall(SYS_fallocate, descriptor, 3, offset, length);
}

/// Opens what a relative path leads to without leaving `folder` and without following any link.
static inline int posix_open_beneath(int folder, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned int)flags,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/// O_PATH: a descriptor that names a file and neither reads nor writes it.
static inline int posix_path_only(void) { return 010000000; }

/// Takes a read lease on a file and gives it back. EAGAIN: somebody has it open for writing.
static inline int posix_probe_writers(int descriptor) {
  // 10 is F_SETSIG: whoever opens the file meanwhile sends us SIGURG (23), which does nothing,
  // instead of SIGIO, which ends a program. 1024 is F_SETLEASE.
  if (fcntl(descriptor, 10, 23) != 0 || fcntl(descriptor, 1024, F_RDLCK) != 0) return -1;
  return fcntl(descriptor, 1024, F_UNLCK);
}

/// A counter to wake a thread that polls. Reading and writing it never wait.
static inline int posix_wake_counter(void) {
  return (int)syscall(SYS_eventfd2, 0U, O_CLOEXEC | O_NONBLOCK);
}

/// The number of the kind of file system that a file lies on; -1 where it cannot be told.
static inline long posix_file_system_kind(int descriptor) {
  long status[64];  // struct statfs, which begins with it and is 120 bytes long
  return syscall(SYS_fstatfs, descriptor, status) == 0 ? status[0] : -1;
}

/// Where the next bytes of a file begin, from `offset` on (SEEK_DATA), or the next hole
/// (SEEK_HOLE).
static inline off_t posix_seek_stretch(int descriptor, off_t offset, int is_hole) {
  return lseek(descriptor, offset, is_hole ? 4 : 3);
}

/// A file that lies in memory only and is closed where another program starts.
static inline int posix_memory_file(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 1U);  // MFD_CLOEXEC
}

/// The process is killed when the one that started it dies.
static inline int posix_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0); }

/// From here on, no program that this process becomes has more rights than it has.
static inline int posix_forbid_new_privileges(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/// Closes every descriptor from `first` on where another program starts.
static inline int posix_close_from(unsigned int first) {
  return (int)syscall(SYS_close_range, first, ~0U, 4U);  // CLOSE_RANGE_CLOEXEC
}

/// Begins a set of rules for all that Landlock's first version knows; needs Linux 5.13.
static inline int posix_landlock_begin(void) {
  struct landlock_ruleset_attr all = {.handled_access_fs = (1ULL << 13) - 1};
  return (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0U);
}

/// Allows a file, or all in a folder, to be read and run; or, with `is_writable`, anything.
static inline int posix_landlock_allow(int rules, const char *path, int is_writable) {
  int target = open(path, 010000000 | O_CLOEXEC);  // O_PATH
  if (target < 0) return -1;
  // Rules for single files may only have the rights that files have: run, write and read.
  const unsigned long long of_files = 7, reading = 1 | 4 | 8, everything = (1ULL << 13) - 1;
  struct landlock_path_beneath_attr rule = {
      .allowed_access = is_writable ? everything : reading, .parent_fd = target};
  long result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U);
  if (result != 0) {
    rule.allowed_access &= of_files;
    result = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U);
  }
  close(target);
  return (int)result;
}

/// From here on, the process and all that it starts have no files but those allowed.
static inline int posix_landlock_enforce(int rules) {
  return (int)syscall(SYS_landlock_restrict_self, rules, 0U);
}

/// From here on, the process and all that it starts can open no sockets but local ones.
static inline int posix_forbid_network(void) {
  struct sock_filter filter[] = {
#if defined(__x86_64__)
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#elif defined(__aarch64__)
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_AARCH64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#endif
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),  // EPERM
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/// A pipe whose ends are closed where another program starts.
static inline int posix_make_pipe(int ends[2]) {
  return (int)syscall(SYS_pipe2, ends, O_CLOEXEC);
}

/// Lowers a limit for good; one that is lower already stays.
static inline void posix_lower_limit(int resource, unsigned long value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max > value) limit.rlim_max = value;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}

/// Limits bytes of address space, bytes of a file, processes of the user and open files; no core
/// files.
static inline void posix_limit(unsigned long memory, unsigned long file, unsigned long processes,
                               unsigned long files) {
  posix_lower_limit(RLIMIT_AS, memory);
  posix_lower_limit(RLIMIT_FSIZE, file);
  posix_lower_limit(RLIMIT_NPROC, processes);
  posix_lower_limit(RLIMIT_NOFILE, files);
  posix_lower_limit(RLIMIT_CORE, 0);
}
