#pragma once
// Linux calls that Swift's Glibc module lacks: they are variadic, or need _GNU_SOURCE, which a
// module map cannot set. Each returns -1 and sets errno on failure, as the call itself does.

#include <linux/fs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <stddef.h>
#include <sys/ioctl.h>
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

/// A pipe whose ends are closed where another program starts.
static inline int posix_make_pipe(int ends[2]) {
  return (int)syscall(SYS_pipe2, ends, O_CLOEXEC);
}
