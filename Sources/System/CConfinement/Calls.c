// The seccomp filter: a deny list, some entries depending on arguments. Everything else is allowed,
// since plugins' libraries need unpredictable calls. libseccomp is opened here, so that no other
// command of Spool loads it.
#define _GNU_SOURCE
#include "Launcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// System calls of later kernels have the same numbers on all architectures.
enum { call_open_tree_attr = 467, call_fchmodat2 = 452 };

static const int refused[] = {
    // io_uring reaches sockets and files without further system calls.
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    // Other processes.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_kcmp,
    SYS_perf_event_open,
    // Key rings, which a user's processes share.
    SYS_add_key, SYS_request_key, SYS_keyctl,
    // Namespaces and mounts, which would undo the isolation.
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_fsopen,
    SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_open_tree, SYS_move_mount, SYS_mount_setattr,
    call_open_tree_attr,
    // Files by handle, which bypasses path rules.
    SYS_open_by_handle_at, SYS_name_to_handle_at,
    // The kernel itself.
    SYS_bpf, SYS_userfaultfd, SYS_fanotify_init, SYS_kexec_load, SYS_kexec_file_load,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff,
    SYS_acct, SYS_quotactl, SYS_syslog, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex,
    SYS_clock_adjtime,
#if defined(__x86_64__)
    SYS_iopl, SYS_ioperm,
#endif
};

// Resources shared outside namespaces: System V memory, queues and semaphores and POSIX queues,
// which outlive their creator; and scheduling.
static const int shared[] = {
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget,
    SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink,
};
static const int scheduling[] = {
    SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setattr, SYS_sched_setaffinity,
};

// The functions of libseccomp, and a filter in the making.
struct filter {
  typeof(seccomp_init) *init;
  typeof(seccomp_attr_set) *set;
  typeof(seccomp_rule_add_array) *add;
  typeof(seccomp_load) *load;
  typeof(seccomp_export_bpf) *export;
  scmp_filter_ctx context;
  bool is_whole;
};

static bool open_library(struct filter *filter) {
  void *library = dlopen("libseccomp.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  filter->init = (typeof(seccomp_init) *)dlsym(library, "seccomp_init");
  filter->set = (typeof(seccomp_attr_set) *)dlsym(library, "seccomp_attr_set");
  filter->add = (typeof(seccomp_rule_add_array) *)dlsym(library, "seccomp_rule_add_array");
  filter->load = (typeof(seccomp_load) *)dlsym(library, "seccomp_load");
  filter->export = (typeof(seccomp_export_bpf) *)dlsym(library, "seccomp_export_bpf");
  return filter->init && filter->set && filter->add && filter->load && filter->export;
}

// Answers a call with an error if all conditions hold.
static void answer(struct filter *filter, int error, int call, unsigned int count,
                   const struct scmp_arg_cmp *conditions) {
  if (filter->add(filter->context, SCMP_ACT_ERRNO(error), call, count, conditions) != 0) {
    filter->is_whole = false;
  }
}

static void refuse(struct filter *filter, int call) { answer(filter, EPERM, call, 0, NULL); }

static void refuse_if(struct filter *filter, int call, struct scmp_arg_cmp condition) {
  answer(filter, EPERM, call, 1, &condition);
}

// Whether all of these bits of an argument are set. The kernel ignores the upper half of an int, so
// that it must not decide.
static struct scmp_arg_cmp has(unsigned int argument, scmp_datum_t bits) {
  return (struct scmp_arg_cmp){argument, SCMP_CMP_MASKED_EQ, bits, bits};
}

// Whether an argument is another number. A set upper half makes it one.
static struct scmp_arg_cmp is_not(unsigned int argument, scmp_datum_t value) {
  return (struct scmp_arg_cmp){argument, SCMP_CMP_NE, value, 0};
}

static const scmp_datum_t set_id_bits[] = {04000, 02000};

// Refuses set-user-ID and set-group-ID mode bits.
static void refuse_set_id(struct filter *filter, int call, unsigned int mode) {
  for (int bit = 0; bit < 2; bit++) refuse_if(filter, call, has(mode, set_id_bits[bit]));
}

// The same for calls that create a file only with certain flags; otherwise the mode argument is
// undefined.
static void refuse_making_set_id(struct filter *filter, int call, unsigned int flags) {
  const scmp_datum_t makes[] = {O_CREAT, 020000000};  // the latter is O_TMPFILE's own bit
  for (int flag = 0; flag < 2; flag++) {
    for (int bit = 0; bit < 2; bit++) {
      const struct scmp_arg_cmp both[] = {has(flags, makes[flag]),
                                          has(flags + 1, set_id_bits[bit])};
      answer(filter, EPERM, call, 2, both);
    }
  }
}

// Refuses priorities for other processes. `process` is the value of the first argument that selects
// one process, and 0 as second argument is the caller; other values select groups and users.
static void refuse_others(struct filter *filter, int call, scmp_datum_t process) {
  refuse_if(filter, call, is_not(0, process));
  refuse_if(filter, call, is_not(1, 0));
}

static void refuse_sockets(struct filter *filter, bool has_network) {
  if (!has_network) {
    refuse(filter, SYS_socket);
  } else {
    for (int family = 0; family < AF_NETLINK; family++) {
      if (family == AF_INET || family == AF_INET6) continue;
      refuse_if(filter, SYS_socket, (struct scmp_arg_cmp){0, SCMP_CMP_EQ, family, 0});
    }
    refuse_if(filter, SYS_socket, (struct scmp_arg_cmp){0, SCMP_CMP_GT, AF_NETLINK, 0});
  }
  // Permanently connected pairs remain; a datagram pair could send to other sockets.
  for (int kind = 0; kind < 16; kind++) {
    if (kind == SOCK_STREAM || kind == SOCK_SEQPACKET) continue;
    refuse_if(filter, SYS_socketpair, (struct scmp_arg_cmp){1, SCMP_CMP_MASKED_EQ, 0xF, kind});
  }
}

bool confinement_filter_calls(bool has_network, bool no_truncating, bool is_among_others) {
  struct filter filter = {.is_whole = true};
  if (!open_library(&filter)) return false;
  filter.context = filter.init(SCMP_ACT_ALLOW);
  // Also the calls of other architectures, and the same calls under x32 numbers.
  if (!filter.context ||
      filter.set(filter.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0) {
    return false;
  }
  for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
    refuse(&filter, refused[index]);
  }
  if (no_truncating) refuse(&filter, SYS_truncate);
  // Both keep their flags in memory, where a filter cannot read them; on ENOSYS, callers fall back
  // to clone and openat.
  answer(&filter, ENOSYS, SYS_clone3, 0, NULL);
  answer(&filter, ENOSYS, SYS_openat2, 0, NULL);
  // A set-user-ID program left behind by root's plugin would make its caller root.
#if defined(__x86_64__)
  refuse_set_id(&filter, SYS_chmod, 1);
  refuse_set_id(&filter, SYS_creat, 1);
  refuse_set_id(&filter, SYS_mknod, 1);
  refuse_making_set_id(&filter, SYS_open, 1);
#endif
  refuse_set_id(&filter, SYS_fchmod, 1);
  refuse_set_id(&filter, SYS_fchmodat, 2);
  refuse_set_id(&filter, call_fchmodat2, 2);
  refuse_set_id(&filter, SYS_mknodat, 2);
  refuse_making_set_id(&filter, SYS_openat, 2);
  // The CLONE_NEW flags: mount, cgroup, UTS, IPC, user, PID and network namespaces.
  const scmp_datum_t spaces[] = {0x00020000, 0x02000000, 0x04000000, 0x08000000,
                                 0x10000000, 0x20000000, 0x40000000};
  for (size_t index = 0; index < sizeof spaces / sizeof spaces[0]; index++) {
    refuse_if(&filter, SYS_clone, has(0, spaces[index]));
  }
  // Limits of other processes; 0 is the caller.
  refuse_if(&filter, SYS_prlimit64, is_not(0, 0));
  if (is_among_others) {
    for (size_t index = 0; index < sizeof shared / sizeof shared[0]; index++) {
      refuse(&filter, shared[index]);
    }
    for (size_t index = 0; index < sizeof scheduling / sizeof scheduling[0]; index++) {
      refuse_if(&filter, scheduling[index], is_not(0, 0));
    }
    refuse_others(&filter, SYS_setpriority, 0);  // PRIO_PROCESS
    refuse_others(&filter, SYS_ioprio_set, 1);   // IOPRIO_WHO_PROCESS
  }
  // TIOCSTI and TIOCLINUX, which type into the user's terminal.
  const scmp_datum_t typing[] = {0x5412, 0x541C};
  for (int index = 0; index < 2; index++) {
    refuse_if(&filter, SYS_ioctl,
              (struct scmp_arg_cmp){1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFF, typing[index]});
  }
  refuse_sockets(&filter, has_network);
  // A filter that lacks an entry is in force all the same, and reported as none.
  return filter.load(filter.context) == 0 && filter.is_whole;
}

// What a process needs that reads one open file and sends what it found.
static const int reading[] = {
    SYS_read, SYS_pread64, SYS_lseek, SYS_close,
    SYS_recvmsg, SYS_recvfrom, SYS_sendmsg, SYS_sendto,
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_futex,
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_setitimer, SYS_getrandom,
    SYS_getpid, SYS_gettid, SYS_sched_yield, SYS_sched_getaffinity, SYS_sysinfo, SYS_uname,
    SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_restart_syscall, SYS_exit, SYS_exit_group,
};

static void allow(struct filter *filter, int call, unsigned int count,
                  const struct scmp_arg_cmp *conditions) {
  if (filter->add(filter->context, SCMP_ACT_ALLOW, call, count, conditions) != 0) {
    filter->is_whole = false;
  }
}

const struct sock_fprog *confinement_reader_filter(void) {
  static struct sock_fprog program;
  struct filter filter = {.is_whole = true};
  // A kernel that has filters looks for one at this address.
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0 || errno != EFAULT) return NULL;
  if (!open_library(&filter)) return NULL;
  filter.context = filter.init(SCMP_ACT_ERRNO(EPERM));
  if (!filter.context ||
      filter.set(filter.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0) {
    return NULL;
  }
  for (size_t index = 0; index < sizeof reading / sizeof reading[0]; index++) {
    allow(&filter, reading[index], 0, NULL);
  }
  // Memory, but no code: PROT_EXEC is 4.
  const struct scmp_arg_cmp no_code = {2, SCMP_CMP_MASKED_EQ, 4, 0};
  allow(&filter, SYS_mmap, 1, &no_code);
  allow(&filter, SYS_mprotect, 1, &no_code);
  // Another descriptor of what it has open.
  const struct scmp_arg_cmp copies = {1, SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0};
  allow(&filter, SYS_fcntl, 1, &copies);
  // Its own limits, which it can lower.
  const struct scmp_arg_cmp itself = {0, SCMP_CMP_EQ, 0, 0};
  allow(&filter, SYS_prlimit64, 1, &itself);
  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0 || !filter.is_whole || filter.export(filter.context, file) != 0) return NULL;
  const off_t size = lseek(file, 0, SEEK_END);
  void *code = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (code == MAP_FAILED) return NULL;
  program.len = size / sizeof(struct sock_filter);
  program.filter = code;
  return &program;
}
