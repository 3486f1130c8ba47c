#define _GNU_SOURCE
#include "CPosix.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int posix_rename_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int posix_rename_new_at(int from_folder, const char *from, int to_folder, const char *to) {
  return renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE);
}

int posix_open_at(int folder, const char *path, int flags, unsigned int mode) {
  return openat(folder, path, flags, mode);
}

int posix_start_writeback(int file, long offset, long count) {
  return sync_file_range(file, offset, count, SYNC_FILE_RANGE_WRITE);
}

int posix_clone(int to, int from) { return ioctl(to, FICLONE, from); }

long posix_copy_range(int from, int to, size_t count) {
  return copy_file_range(from, NULL, to, NULL, count, 0);
}

int posix_punch_hole(int descriptor, long offset, long length) {
  return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int posix_open_beneath(int folder, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned int)flags,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int posix_path_only(void) { return O_PATH; }

int posix_probe_writers(int descriptor) {
  // A process that opens the file meanwhile sends us SIGURG, which does nothing, instead of SIGIO,
  // which ends a program.
  if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -1;
  if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return -1;
  return fcntl(descriptor, F_SETLEASE, F_UNLCK);
}

int posix_wake_counter(void) {
  return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

long posix_file_system_kind(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? status.f_type : -1;
}

long posix_seek_stretch(int descriptor, long offset, int is_hole) {
  return lseek(descriptor, offset, is_hole ? SEEK_HOLE : SEEK_DATA);
}

int posix_memory_file(const char *name) {
  return memfd_create(name, MFD_CLOEXEC);
}

int posix_make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

void posix_set_arenas(int count, int threshold) {
  mallopt(M_ARENA_MAX, count);
  mallopt(M_MMAP_THRESHOLD, threshold);
}

void posix_trim_memory(void) { malloc_trim(0); }
