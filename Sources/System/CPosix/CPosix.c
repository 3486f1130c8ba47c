#define _GNU_SOURCE
#include "CPosix.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
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

int posix_make_message_sockets(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

enum { most_files = 4 };

// Room for the descriptors that go with a message.
union file_room {
  struct cmsghdr head;
  char bytes[CMSG_SPACE(most_files * sizeof(int))];
};

long posix_send_message(int socket, const void *bytes, size_t count, const int *files,
                        int file_count) {
  struct iovec part = {(void *)bytes, count};
  union file_room room = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (file_count > most_files) {
    errno = EMSGSIZE;
    return -1;
  }
  if (file_count > 0) {
    message.msg_control = room.bytes;
    message.msg_controllen = CMSG_SPACE(file_count * sizeof(int));
    room.head.cmsg_level = SOL_SOCKET;
    room.head.cmsg_type = SCM_RIGHTS;
    room.head.cmsg_len = CMSG_LEN(file_count * sizeof(int));
    memcpy(CMSG_DATA(&room.head), files, file_count * sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

long posix_receive_message(int socket, void *bytes, size_t count, int *files, int *file_count) {
  struct iovec part = {bytes, count};
  union file_room room = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes,
                           .msg_controllen = sizeof room.bytes};
  const long got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const int limit = *file_count;
  *file_count = 0;
  if (got < 0) return got;
  bool is_cut = message.msg_flags & (MSG_TRUNC | MSG_CTRUNC);
  for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const int held = (int)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int index = 0; index < held; index++) {
      int file;
      memcpy(&file, CMSG_DATA(head) + index * sizeof file, sizeof file);
      if (*file_count < limit) {
        files[(*file_count)++] = file;
      } else {
        close(file);
        is_cut = true;
      }
    }
  }
  if (!is_cut) return got;
  while (*file_count > 0) close(files[--*file_count]);
  errno = EMSGSIZE;
  return -1;
}

int posix_fixed_memory_file(const char *name, long length) {
  const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (ftruncate(file, length) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    return file;
  }
  const int error = errno;
  close(file);
  errno = error;
  return -1;
}

void posix_set_arenas(int count, int threshold) {
  mallopt(M_ARENA_MAX, count);
  mallopt(M_MMAP_THRESHOLD, threshold);
}

void posix_trim_memory(void) { malloc_trim(0); }
