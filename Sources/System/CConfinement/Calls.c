// The seccomp filter: a deny list, some entries depending on arguments. Everything else is allowed,
// since plugins' libraries need unpredictable calls.
#define _GNU_SOURCE
#include "CConfinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

// System calls of later kernels have the same numbers on all architectures.
enum { call_open_tree_attr = 467, call_fchmodat2 = 452 };

static const unsigned int refused[] = {
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
static const unsigned int shared[] = {
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget,
    SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink,
};
static const unsigned int scheduling[] = {
    SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setattr, SYS_sched_setaffinity,
};

struct filter {
  struct sock_filter lines[512];
  unsigned short count;
};

static void add(struct filter *filter, uint16_t code, uint32_t value, uint8_t yes, uint8_t no) {
  filter->lines[filter->count++] = (struct sock_filter){code, yes, no, value};
}

static void load(struct filter *filter, size_t offset) {
  add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

// The lower half of an argument on little-endian machines.
static void load_argument(struct filter *filter, size_t number) {
  load(filter, offsetof(struct seccomp_data, args) + 8 * number);
}

static void answer(struct filter *filter, uint32_t action) {
  add(filter, BPF_RET | BPF_K, action, 0, 0);
}

// Executes the next instruction if the loaded value is equal, and skips it otherwise.
static void if_equal(struct filter *filter, uint32_t value) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

// Decides a call by comparing a masked argument with values.
static void decide(struct filter *filter, uint32_t call, size_t argument, uint32_t mask,
                   const uint32_t *values, uint8_t count, uint32_t found, uint32_t other) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, (uint8_t)(2 * count + 3));
  load_argument(filter, argument);
  add(filter, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
  for (uint8_t index = 0; index < count; index++) {
    if_equal(filter, values[index]);
    answer(filter, found);
  }
  answer(filter, other);
}

// Refuses set-user-ID and set-group-ID mode bits.
static void refuse_set_id(struct filter *filter, uint32_t call, size_t mode) {
  const uint32_t none = 0, set_id = 06000;
  decide(filter, call, mode, set_id, &none, 1, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM);
}

// The same for calls that create a file only with certain flags; otherwise the mode argument is
// undefined.
static void refuse_making_set_id(struct filter *filter, uint32_t call, size_t flags) {
  const uint32_t makes = O_CREAT | 020000000;  // the latter is O_TMPFILE's own bit
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 8);
  load_argument(filter, flags);
  add(filter, BPF_ALU | BPF_AND | BPF_K, makes, 0, 0);
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, 0);
  load_argument(filter, flags + 1);
  add(filter, BPF_ALU | BPF_AND | BPF_K, 06000, 0, 0);
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
  answer(filter, SECCOMP_RET_ALLOW);
}

// Refuses priorities for other processes. `process` is the value of the first argument that selects
// one process, and 0 as second argument is the caller; other values select groups and users.
static void refuse_others(struct filter *filter, uint32_t call, uint32_t process) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 6);
  load_argument(filter, 0);
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, process, 0, 3);
  load_argument(filter, 1);
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
  answer(filter, SECCOMP_RET_ALLOW);
  answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

int confinement_filter_calls(bool has_network, bool no_truncating, bool is_among_others) {
  const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM, allow = SECCOMP_RET_ALLOW;
  struct filter filter = {.count = 0};
#if defined(__x86_64__)
  const uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  const uint32_t machine = AUDIT_ARCH_AARCH64;
#else
#error "this machine's number for filters of system calls is not known"
#endif
  load(&filter, offsetof(struct seccomp_data, arch));
  add(&filter, BPF_JMP | BPF_JEQ | BPF_K, machine, 1, 0);
  answer(&filter, SECCOMP_RET_KILL_PROCESS);
  load(&filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  // The same calls under x32 numbers.
  add(&filter, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  answer(&filter, refuse);
#endif
  for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
    if_equal(&filter, refused[index]);
    answer(&filter, refuse);
  }
  if (no_truncating) {
    if_equal(&filter, SYS_truncate);
    answer(&filter, refuse);
  }
  // clone3 keeps its flags in memory, where a filter cannot read them; on ENOSYS, callers fall back
  // to clone.
  if_equal(&filter, SYS_clone3);
  answer(&filter, SECCOMP_RET_ERRNO | ENOSYS);
  if_equal(&filter, SYS_openat2);
  answer(&filter, SECCOMP_RET_ERRNO | ENOSYS);
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
  // All CLONE_NEW flags.
  const uint32_t nothing = 0;
  decide(&filter, SYS_clone, 0, 0x7E020000, &nothing, 1, allow, refuse);
  // Limits of other processes; 0 is the caller.
  decide(&filter, SYS_prlimit64, 0, ~0U, &nothing, 1, allow, refuse);
  if (is_among_others) {
    for (size_t index = 0; index < sizeof shared / sizeof shared[0]; index++) {
      if_equal(&filter, shared[index]);
      answer(&filter, refuse);
    }
    for (size_t index = 0; index < sizeof scheduling / sizeof scheduling[0]; index++) {
      decide(&filter, scheduling[index], 0, ~0U, &nothing, 1, allow, refuse);
    }
    refuse_others(&filter, SYS_setpriority, 0);  // PRIO_PROCESS
    refuse_others(&filter, SYS_ioprio_set, 1);   // IOPRIO_WHO_PROCESS
  }
  // TIOCSTI and TIOCLINUX, which type into the user's terminal.
  const uint32_t typing[] = {0x5412, 0x541C};
  decide(&filter, SYS_ioctl, 1, ~0U, typing, 2, refuse, allow);
  const uint32_t families[] = {AF_INET, AF_INET6, AF_NETLINK};
  decide(&filter, SYS_socket, 0, ~0U, families, has_network ? 3 : 0, allow, refuse);
  // Permanently connected pairs; a datagram pair could send to other sockets.
  const uint32_t kinds[] = {SOCK_STREAM, SOCK_SEQPACKET};
  decide(&filter, SYS_socketpair, 1, 0xF, kinds, 2, allow, refuse);
  answer(&filter, allow);
  struct sock_fprog program = {filter.count, filter.lines};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
