// Kills all descendants of this process, however fast they fork.
//
// Killing one by one fails against processes that fork: the last one found has a new child
// meanwhile, and each dead one frees a slot of the user's process limit. So all are stopped first,
// and none is reaped until a walk finds no new process: stopped and dead processes fill the limit,
// and the tree no longer changes. Then all are killed.
#define _GNU_SOURCE
#include "Launcher.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  // The kernel's maximum process number.
  most_processes = 1 << 22,
  // Walks until unlimited forking is considered killed as far as found.
  most_walks = 32,
  // Maximum children reaped at a time, so that endless deaths do not block the caller.
  most_ends = 4096,
};

typedef unsigned char process_set[most_processes / 8];

// The processes found in this walk and in the previous one.
static process_set met_now, met_before;

static bool is_in(const process_set set, pid_t process) {
  return process > 0 && process < most_processes && (set[process / 8] >> process % 8 & 1);
}

static void put(process_set set, pid_t process) { set[process / 8] |= 1 << process % 8; }

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// A process's parent, after reparenting; 0 if the process is gone.
static pid_t parent_of(pid_t process, char *state) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return 0;
  text[count] = 0;
  // The name in brackets may contain any character.
  const char *rest = strrchr(text, ')');
  int parent = 0;
  return rest && sscanf(rest, ") %c %d", state, &parent) == 2 ? parent : 0;
}

struct walk {
  // Processes found for the first time.
  int news;
  // Processes that are not dead.
  int living;
};

// Sends a signal to all descendants and prevents further forks.
static struct walk walk(int signal) {
  struct walk walk = {0, 0};
  DIR *folder = opendir("/proc");
  if (!folder) return walk;
  memcpy(met_before, met_now, sizeof met_now);
  memset(met_now, 0, sizeof met_now);
  const pid_t self = getpid();
  put(met_now, self);
  for (struct dirent *entry; (entry = readdir(folder));) {
    pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
    if (process <= 1 || process >= most_processes || process == self) continue;
    // Opened before the parent is read, so that a reused number is not signalled.
    int handle = (int)syscall(SYS_pidfd_open, process, 0U);
    char state = 0;
    // Parents usually come first; a child before its parent is found in the next walk.
    if (is_in(met_now, parent_of(process, &state))) {
      put(met_now, process);
      walk.news += !is_in(met_before, process);
      walk.living += state != 'Z' && state != 'X';
      if (handle < 0) {
        kill(process, signal);
      } else {
        syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0U);
      }
      // The limit applies to that process only, not to its user.
      const struct rlimit none = {0, 0};
      prlimit(process, RLIMIT_NPROC, &none, NULL);
    }
    if (handle >= 0) close(handle);
  }
  closedir(folder);
  return walk;
}

// Reaps children; false if there are none left, and thus no descendants.
static bool has_living_children(void) {
  for (int count = 0; count < most_ends; count++) {
    pid_t ended = waitpid(-1, NULL, WNOHANG);
    if (ended == 0) return true;
    if (ended < 0) return errno != ECHILD;
  }
  return true;
}

int confinement_end_descendants(unsigned int patience) {
  const long deadline = now() + patience;
  while (has_living_children()) {
    if (now() >= deadline) {
      int living = walk(SIGKILL).living;
      return living > 0 ? living : 1;
    }
    for (int count = 0; count < most_walks && now() < deadline; count++) {
      if (walk(SIGSTOP).news == 0) break;
    }
    walk(SIGKILL);
    for (int count = 0; count < 50 && has_living_children(); count++) usleep(1000);
  }
  return 0;
}
