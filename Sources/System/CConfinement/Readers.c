// Processes that each read one untrusted file.
//
// A process that has opened the libraries of the FFmpeg project forks them: opening these takes 40 ms,
// and forking one. It keeps one forked in advance. None of them reads a second file, so what one file
// does to its reader ends there.
#define _GNU_SOURCE
#include "CConfinement.h"
#include "Launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  // Bytes of address space, and open files, of one reader.
  most_files = 16,
  // The first byte of this process's messages on a reader's socket.
  message_ended = 2,
};
static const unsigned long most_memory = 4UL << 30;

// Whose other ends are polled: the requests, the signals, and then the readers. A reader that was
// killed and not yet reaped has the complement of its socket, which poll passes over.
struct readers {
  struct pollfd *ends;
  pid_t *processes;
  int count, room;
  // The reader that was forked in advance, and the other end of its socket; 0 and -1 without one.
  pid_t spare;
  int spare_end;
};
enum { end_requests, end_signals, first_reader };

static bool grow(struct readers *readers) {
  if (readers->count < readers->room) return true;
  const int room = readers->room ? 2 * readers->room : 16;
  struct pollfd *ends = realloc(readers->ends, room * sizeof *ends);
  if (ends) readers->ends = ends;
  pid_t *processes = realloc(readers->processes, room * sizeof *processes);
  if (processes) readers->processes = processes;
  if (!ends || !processes) return false;
  readers->room = room;
  return true;
}

static void add(struct readers *readers, int file, short events, pid_t process) {
  readers->ends[readers->count] = (struct pollfd){file, events, 0};
  readers->processes[readers->count++] = process;
}

static int socket_of(const struct pollfd *end) { return end->fd < 0 ? ~end->fd : end->fd; }

// Sends the last message on a reader's socket. It never waits: where the socket is full, its closing
// tells enough.
static void end(int socket, int kind, int value) {
  const unsigned char bytes[2] = {kind, value};
  send(socket, bytes, sizeof bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  close(socket);
}

static void reap(struct readers *readers) {
  struct signalfd_siginfo information;
  while (read(readers->ends[end_signals].fd, &information, sizeof information) > 0) continue;
  int status;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    // One that is stopped would make Spool wait.
    if (WIFSTOPPED(status)) kill(ended, SIGKILL);
    if (ended == readers->spare) {
      close(readers->spare_end);
      readers->spare = 0;
      readers->spare_end = -1;
    }
    for (int index = first_reader; index < readers->count; index++) {
      if (readers->processes[index] != ended) continue;
      end(socket_of(&readers->ends[index]), message_ended,
          WIFSTOPPED(status) ? WSTOPSIG(status) : WIFSIGNALED(status) ? WTERMSIG(status) : 0);
      readers->count--;
      readers->ends[index] = readers->ends[readers->count];
      readers->processes[index] = readers->processes[readers->count];
      break;
    }
  }
}

// Answers a request: 0 and a socket, or errno. False where the other end is closed.
static bool answer(int requests, int error, int socket) {
  unsigned char byte = error;
  struct iovec part = {&byte, 1};
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } room = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (error == 0) {
    message.msg_control = room.bytes;
    message.msg_controllen = sizeof room.bytes;
    room.head.cmsg_level = SOL_SOCKET;
    room.head.cmsg_type = SCM_RIGHTS;
    room.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&room.head), &socket, sizeof socket);
  }
  return sendmsg(requests, &message, MSG_NOSIGNAL) >= 0;
}

// Makes the calling process a reader, which ends with its parent.
static void become_reader(const struct readers *readers, pid_t parent,
                          const struct sock_fprog *filter) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(0);
  // Among them are the sockets of other readers.
  for (int index = 0; index < readers->count; index++) close(socket_of(&readers->ends[index]));
  close(readers->spare_end);
  // No handler of a library stands between a crash and the end.
  const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGPROF,
                       SIGALRM, SIGXCPU};
  for (size_t index = 0; index < sizeof fatal / sizeof fatal[0]; index++) {
    signal(fatal[index], SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  confinement_limit(most_memory, 0, 0, most_files);
  // A filter that cannot be loaded would be reported as loaded.
  if (filter && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0) != 0) _exit(1);
}

// Forks a reader in advance, where there is none. Returns its socket in the reader, and -1 here: with
// no spare reader and errno, if it cannot be forked.
static int fork_spare(struct readers *readers, pid_t self, const struct sock_fprog *filter) {
  int ends[2];
  if (readers->spare) return -1;
  if (!grow(readers) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  readers->spare_end = ends[0];
  const pid_t process = fork();
  if (process == 0) {
    become_reader(readers, self, filter);
    return ends[1];
  }
  if (process < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    readers->spare_end = -1;
    errno = error;
    return -1;
  }
  readers->spare = process;
  add(readers, ends[1], 0, process);
  return -1;
}

// Where memory runs out, the kernel ends readers first.
static void offer_to_killer(void) {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, "900", 3) < 0) errno = 0;
  close(file);
}

int confinement_fork_readers(int requests, int layers) {
  // Spool decides when its readers stop, not the terminal or the service that is to stop Spool.
  const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
  for (size_t index = 0; index < sizeof ignored / sizeof ignored[0]; index++) {
    signal(ignored[index], SIG_IGN);
  }
  // What Spool, or what started it, left open.
  if (requests > 3) syscall(SYS_close_range, 3U, requests - 1U, 0);
  syscall(SYS_close_range, requests + 1U, ~0U, 0);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_SETMASK, &children, NULL);
  const struct sock_fprog *filter = layers & confinement_filter ? confinement_reader_filter() : NULL;
  offer_to_killer();
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  int version = layers & confinement_landlock ? confinement_landlock_version() : 0;
  const int rules = version > 0 ? confinement_begin_rules(version, false) : -1;
  confinement_drop_privileges(false);
  if (rules < 0 || confinement_enforce_rules(rules) != 0) version = 0;
  if (rules >= 0) close(rules);
  struct readers readers = {.spare_end = -1};
  const int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0 || !grow(&readers)) return -1;
  add(&readers, requests, POLLIN, 0);
  add(&readers, signals, POLLIN, 0);
  const pid_t self = getpid();
  const int first = fork_spare(&readers, self, filter);
  if (first >= 0) return first;
  const struct confinement_of_readers report = {version, filter != NULL};
  if (send(requests, &report, sizeof report, MSG_NOSIGNAL) < 0) return -1;
  for (;;) {
    if (poll(readers.ends, readers.count, -1) < 0) continue;
    for (int index = first_reader; index < readers.count; index++) {
      if (!(readers.ends[index].revents & (POLLHUP | POLLERR))) continue;
      kill(readers.processes[index], SIGKILL);
      readers.ends[index].fd = ~readers.ends[index].fd;
    }
    if (readers.ends[end_signals].revents) reap(&readers);
    if (!readers.ends[end_requests].revents) continue;
    char byte;
    const ssize_t got = recv(requests, &byte, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    int socket = fork_spare(&readers, self, filter);
    if (socket >= 0) return socket;
    if (!answer(requests, readers.spare ? 0 : errno ? errno : EAGAIN, readers.spare_end)) return -1;
    if (!readers.spare) continue;
    close(readers.spare_end);
    readers.spare = 0;
    readers.spare_end = -1;
    // While Spool begins to use that one.
    socket = fork_spare(&readers, self, filter);
    if (socket >= 0) return socket;
  }
}
