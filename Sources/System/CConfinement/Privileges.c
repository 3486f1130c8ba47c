// Capabilities and limits.
#define _GNU_SOURCE
#include "Launcher.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int confinement_drop_privileges(bool keeps_files) {
  // First, so that it holds whatever fails below.
  const int locked = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const uint32_t kept = keeps_files && geteuid() == 0 ? 1U << CAP_DAC_OVERRIDE : 0;
  // Fails without capabilities to drop, or beyond the kernel's last one.
  for (int capability = 0; capability < 64; capability++) {
    if (capability != CAP_DAC_OVERRIDE || !kept) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{0}};
  if (syscall(SYS_capget, &header, sets) != 0) return -1;
  for (int half = 0; half < 2; half++) {
    sets[half].permitted &= half == 0 ? kept : 0;
    sets[half].effective = sets[half].permitted;
    sets[half].inheritable = 0;
  }
  if (syscall(SYS_capset, &header, sets) != 0) return -1;
  return locked;
}

static void lower(int resource, unsigned long value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max > value) limit.rlim_max = value;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(resource, &limit);
}

void confinement_limit(unsigned long memory, unsigned long file, unsigned long processes,
                       unsigned long files) {
  lower(RLIMIT_AS, memory);
  lower(RLIMIT_FSIZE, file);
  lower(RLIMIT_NPROC, processes);
  lower(RLIMIT_NOFILE, files);
  lower(RLIMIT_CORE, 0);
}
