#pragma once
// Linux calls that Swift's Glibc module lacks: they are variadic, or need _GNU_SOURCE, which a
// module map cannot set. Each returns -1 and sets errno on failure, as the call itself does.

#include <linux/fs.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <fcntl.h>
#include <unistd.h>

/// Renames unless something has the new name already (EEXIST).
static inline int posix_rename_new(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
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
