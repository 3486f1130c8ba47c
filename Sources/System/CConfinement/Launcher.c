#define _GNU_SOURCE
#include "Launcher.h"
#include "CConfinement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum end {
  end_order, end_lifeline, end_input, end_output, end_errors, end_group, end_count
};

struct order {
  bool is_enclosed;
  bool has_network;
  unsigned long memory, file, processes;
  const char *folder;
  // Lists that end with NULL.
  char **rules, **words, **variables;
};

static int lifeline;

// Sends a line to Spool, which may have ended. A path in it may contain line breaks.
static void report(const char *name, const char *text) {
  char line[1024];
  int length = snprintf(line, sizeof line, "%s %s\n", name, text);
  if (length >= (int)sizeof line) length = sizeof line - 1;
  for (int index = 0; index < length; index++) {
    if ((unsigned char)line[index] < ' ' || line[index] == 127) line[index] = ' ';
  }
  line[length - 1] = '\n';
  send(lifeline, line, length, MSG_NOSIGNAL);
}

static int fail(const char *action, const char *object) {
  char text[900];
  snprintf(text, sizeof text, "%s %s: %s", action, object, strerror(errno));
  report("failed", text);
  return 126;
}

// Reads a text of the order; NULL behind the last one.
static char *next(char **place, const char *end) {
  char *text = *place;
  char *stop = text < end ? memchr(text, 0, end - text) : NULL;
  *place = stop ? stop + 1 : text;
  return stop ? text : NULL;
}

static unsigned long next_number(char **place, const char *end) {
  const char *text = next(place, end);
  return text ? strtoul(text, NULL, 10) : 0;
}

static char **next_list(char **place, const char *end) {
  unsigned long count = next_number(place, end);
  char **list = count < 1 << 24 ? calloc(count + 1, sizeof *list) : NULL;
  for (unsigned long index = 0; list && index < count; index++) {
    list[index] = next(place, end);
    if (!list[index]) return NULL;
  }
  return list;
}

static bool read_order(int file, struct order *order) {
  struct stat status;
  if (fstat(file, &status) != 0 || status.st_size == 0) return false;
  char *place = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (place == MAP_FAILED) return false;
  const char *end = place + status.st_size;
  order->has_network = next_number(&place, end) == 1;
  order->memory = next_number(&place, end);
  order->file = next_number(&place, end);
  order->processes = next_number(&place, end);
  order->folder = next(&place, end);
  order->rules = next_list(&place, end);
  order->words = next_list(&place, end);
  order->variables = next_list(&place, end);
  return order->folder && order->rules && order->words && order->words[0] && order->variables;
}

static void confine(const struct order *order, bool is_counted) {
  // Only in a /proc of its own namespace does a process find itself under its own number.
  char link[16] = "", number[16];
  snprintf(number, sizeof number, "%d", getpid());
  const bool is_alone = order->is_enclosed &&
                        readlink("/proc/self", link, sizeof link - 1) > 0 &&
                        strcmp(link, number) == 0;
  int version = confinement_landlock_version();
  int rules = version > 0 ? confinement_begin_rules(version, order->has_network) : -1;
  for (char **rule = order->rules; rules >= 0 && *rule; rule++) {
    // What is not there cannot be allowed.
    confinement_allow(rules, version, (*rule)[0], *rule + 1);
  }
  const bool is_dropped = confinement_drop_privileges(true) == 0;
  if (rules < 0 || confinement_enforce_rules(rules) != 0) version = 0;
  const bool is_filtered = confinement_filter_calls(
      order->has_network, !order->is_enclosed && version < 3, !order->is_enclosed);
  char text[64];
  snprintf(text, sizeof text, "%d %d %d %d %d %d", order->is_enclosed, version, is_filtered,
           is_dropped, is_alone, is_counted);
  report("confined", text);
}

static int become(const struct order *order, const int *ends) {
  for (int standard = 0; standard < 3; standard++) {
    if (dup2(ends[end_input + standard], standard) < 0) return fail("cannot", "pass its pipes");
  }
  if (chdir(order->folder) != 0) return fail("cannot enter", order->folder);
  confinement_limit(order->memory, order->file, order->processes, 256);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(order->words[0], order->words, order->variables);
  return fail("cannot start", order->words[0]);
}

// Waits for the program, and kills it when Spool has closed the lifeline. Returns its status.
static int supervise(pid_t program, const sigset_t *children) {
  int signals = signalfd(-1, children, SFD_CLOEXEC | SFD_NONBLOCK);
  struct pollfd ends[2] = {{lifeline, POLLIN, 0}, {signals, POLLIN, 0}};
  // Maximum children reaped before it checks for Spool's end.
  const int most_ends = 256;
  for (;;) {
    int status = 0, count = 0;
    for (pid_t ended; count < most_ends && (ended = waitpid(-1, &status, WNOHANG)) > 0; count++) {
      if (ended == program) return status;
    }
    // Without a signal descriptor, it polls.
    const int wait = count == most_ends ? 0 : signals < 0 ? 20 : -1;
    if (poll(ends, 2, wait) < 0 && errno != EINTR) kill(program, SIGKILL);
    if (ends[0].revents != 0) {
      kill(program, SIGKILL);
      ends[0].fd = -1;
    }
    struct signalfd_siginfo information;
    if (ends[1].revents != 0 && read(signals, &information, sizeof information) < 0) continue;
  }
}

// Marks all descriptors but the standard ones, so that the program inherits none of them.
static void close_on_start(void) {
  const unsigned int mark = 4;  // CLOSE_RANGE_CLOEXEC
  if (syscall(SYS_close_range, 3, ~0U, mark) == 0) return;
  // Before Linux 5.11.
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    const int file = atoi(entry->d_name);
    if (file > 2) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  if (folder) closedir(folder);
}

int confinement_launch(int count, char *const *words) {
  if (count != end_count + 1) return 125;
  int ends[end_count];
  for (int index = 0; index < end_count; index++) ends[index] = atoi(words[index]);
  lifeline = ends[end_lifeline];
  struct order order = {.is_enclosed = atoi(words[end_count])};
  if (!read_order(ends[end_order], &order)) {
    report("failed", "its launcher cannot read what to start");
    return 125;
  }
  close_on_start();
  // Orphans of the program become children of this process, which reaps them itself.
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &children, NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const bool is_counted = ends[end_group] >= 0 && write(ends[end_group], "0", 1) == 1;
  // In namespaces this process is the first one, whose end kills all others, and as confined as the
  // program. Outside, it must be able to kill them, and they must not be able to kill it.
  if (order.is_enclosed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    confine(&order, is_counted);
  }
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  const pid_t program = fork();
  if (program < 0) return fail("cannot", "start a process");
  if (program == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // Detaches from the user's terminal.
    setsid();
    if (!order.is_enclosed) confine(&order, is_counted);
    _exit(become(&order, ends));
  }
  // Spool must see when the program closes its streams.
  for (int index = end_input; index <= end_errors; index++) close(ends[index]);
  char text[32];
  snprintf(text, sizeof text, "%d", supervise(program, &children));
  if (!order.is_enclosed) {
    const int left = confinement_end_descendants(10000);
    char number[32];
    snprintf(number, sizeof number, "%d", left);
    if (left > 0) report("left", number);
  }
  report("ended", text);
  return 0;
}
