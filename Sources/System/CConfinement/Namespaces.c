// Process, mount and network namespaces. The mount calls are those of Linux 5.2 and 5.12, which the
// C library may lack.
#define _GNU_SOURCE
#include "CConfinement.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct attributes {
  uint64_t set, cleared, propagation, user_namespace;
};

enum : uint64_t { read_only = 1, no_setuid = 2, no_devices = 4 };

static int change_mount(const char *path, unsigned int flags, uint64_t set, uint64_t cleared) {
  struct attributes attributes = {.set = set, .cleared = cleared};
  return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attributes, sizeof attributes);
}

static bool write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t count = write(file, text, strlen(text));
  close(file);
  return count == (ssize_t)strlen(text);
}

// Maps only the process's own user and group.
static void keep_user(uid_t user, gid_t group) {
  char text[64];
  write_text("/proc/self/setgroups", "deny");
  snprintf(text, sizeof text, "%u %u 1", user, user);
  write_text("/proc/self/uid_map", text);
  snprintf(text, sizeof text, "%u %u 1", group, group);
  write_text("/proc/self/gid_map", text);
}

bool confinement_unshare(bool has_network) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  const int spaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC;
  // A kernel may lack network namespaces; the seccomp filter refuses sockets in any case.
  const int tries[] = {spaces | CLONE_NEWNET, spaces};
  for (int index = has_network ? 1 : 0; index < 2; index++) {
    if (unshare(tries[index]) == 0) return true;
    if (unshare(CLONE_NEWUSER | tries[index]) == 0) {
      keep_user(user, group);
      return true;
    }
  }
  return false;
}

// Creates the parent folders of a path, and an empty file or folder there.
static bool make_place(const char *path, bool is_folder) {
  char part[4096];
  if (strlen(path) >= sizeof part) return false;
  for (size_t end = 1; path[end]; end++) {
    if (path[end] != '/') continue;
    memcpy(part, path, end);
    part[end] = 0;
    if (mkdir(part, 0755) != 0 && errno != EEXIST) return false;
  }
  if (is_folder) return mkdir(path, 0755) == 0 || errno == EEXIST;
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

bool confinement_close_mounts(const char *const *writable) {
  static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                        "/dev/random", "/dev/urandom", NULL};
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return false;
  for (const char *const *path = devices; *path; path++) mount(*path, *path, NULL, MS_BIND, NULL);
  for (const char *const *path = writable; *path; path++) {
    if (mount(*path, *path, NULL, MS_BIND | MS_REC, NULL) != 0 && errno != ENOENT) return false;
  }
  if (change_mount("/", AT_RECURSIVE, read_only | no_setuid | no_devices, 0) != 0) return false;
  bool is_whole = true;
  for (const char *const *path = writable; *path; path++) {
    if (change_mount(*path, 0, 0, read_only) != 0 && errno != ENOENT) is_whole = false;
  }
  for (const char *const *path = devices; *path; path++) change_mount(*path, 0, 0, no_devices);
  return is_whole;
}

bool confinement_own_shared_memory(unsigned long megabytes, const char *const *kept) {
  static const char folder[] = "/dev/shm/";
  enum { most = 64 };
  int trees[most];
  const char *places[most];
  int count = 0;
  // Kept paths may lie in the folder that is covered.
  for (const char *const *path = kept; *path && count < most; path++) {
    if (strncmp(*path, folder, sizeof folder - 1) != 0) continue;
    const unsigned int clone = 1, close_on_start = O_CLOEXEC;
    int tree =
        (int)syscall(SYS_open_tree, AT_FDCWD, *path, clone | close_on_start | AT_RECURSIVE);
    if (tree < 0) continue;
    trees[count] = tree;
    places[count++] = *path;
  }
  char options[64];
  snprintf(options, sizeof options, "mode=1777,nr_inodes=65536,size=%luM", megabytes);
  bool is_own = mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
  for (int index = 0; index < count; index++) {
    struct stat status;
    const unsigned int from_descriptor = 4;  // MOVE_MOUNT_F_EMPTY_PATH
    if (is_own && fstat(trees[index], &status) == 0 &&
        make_place(places[index], S_ISDIR(status.st_mode))) {
      syscall(SYS_move_mount, trees[index], "", AT_FDCWD, places[index], from_descriptor);
    }
    close(trees[index]);
  }
  return is_own;
}

bool confinement_own_processes(void) {
  return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) == 0;
}
