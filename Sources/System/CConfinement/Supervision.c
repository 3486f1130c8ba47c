// The launcher, which waits for the plugin's end and for Spool's, and the first process of a PID
// namespace, whose end kills all others in it.
#define _GNU_SOURCE
#include "CConfinement.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t children(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

pid_t confinement_fork(void) { return fork(); }

void confinement_await_children(void) {
  sigset_t set = children();
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &set, NULL);
  // Orphans of the plugin become children of this process.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void confinement_take_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

void confinement_leave_pipes(void) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < 3; standard++) {
    if (nothing < 0 || dup2(nothing, standard) < 0) close(standard);
  }
  if (nothing > 2) close(nothing);
}

int confinement_supervise(pid_t child, int lifeline, int *left) {
  sigset_t set = children();
  int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  struct pollfd ends[2] = {{lifeline, POLLIN, 0}, {signals, POLLIN, 0}};
  // Maximum children reaped before it checks for Spool's end.
  const int most_ends = 256;
  for (;;) {
    int status = 0, count = 0;
    for (pid_t ended; count < most_ends && (ended = waitpid(-1, &status, WNOHANG)) > 0; count++) {
      if (ended != child) continue;
      *left = confinement_end_descendants(10000);
      return status;
    }
    // Without a signal descriptor, it polls.
    const int wait = count == most_ends ? 0 : signals < 0 ? 20 : -1;
    if (poll(ends, 2, wait) < 0 && errno != EINTR) kill(child, SIGKILL);
    if (ends[0].revents != 0) {
      kill(child, SIGKILL);
      ends[0].fd = -1;
    }
    struct signalfd_siginfo information;
    if (ends[1].revents != 0 && read(signals, &information, sizeof information) < 0) continue;
  }
}

void confinement_rule(pid_t child, int report) {
  for (;;) {
    int status = 0;
    pid_t ended = wait(&status);
    if (ended == child) _exit(write(report, &status, sizeof status) == sizeof status ? 0 : 1);
    if (ended < 0 && errno == ECHILD) _exit(1);
  }
}

int confinement_reported(int report, int otherwise) {
  int status = 0;
  return read(report, &status, sizeof status) == sizeof status ? status : otherwise;
}

void confinement_end_as(int status) {
  if (WIFSIGNALED(status)) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    confinement_take_signals();
    raise(WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
}
