// Landlock rules. The kernel's header may be older than the kernel, so later additions are declared
// here (linux/landlock.h of Linux 6.12).
#define _GNU_SOURCE
#include "CConfinement.h"
#include "Launcher.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// The access rights that each version added.
enum : uint64_t {
  right_run = 1 << 0,
  right_write = 1 << 1,
  right_read = 1 << 2,
  right_list = 1 << 3,
  rights_first = (1 << 13) - 1,
  right_refer = 1 << 13,
  right_truncate = 1 << 14,
  right_control_device = 1 << 15,
};

struct ruleset {
  uint64_t files;
  uint64_t network;
  uint64_t scopes;
};

struct rule {
  uint64_t allowed;
  int32_t target;
} __attribute__((packed));

static uint64_t handled(int version) {
  uint64_t rights = rights_first;
  if (version >= 2) rights |= right_refer;
  if (version >= 3) rights |= right_truncate;
  if (version >= 5) rights |= right_control_device;
  return rights;
}

int confinement_landlock_version(void) {
  const unsigned int ask_version = 1;
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ask_version);
  return version < 0 ? 0 : (int)version;
}

int confinement_begin_rules(int version, bool has_network) {
  const uint64_t bind_and_connect = 3, abstract_sockets_and_signals = 3;
  struct ruleset rules = {.files = handled(version)};
  if (version >= 4 && !has_network) rules.network = bind_and_connect;
  if (version >= 6) rules.scopes = abstract_sockets_and_signals;
  // Older kernels accept a longer structure whose unknown rest is zero.
  return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0U);
}

int confinement_allow(int rules, int version, char access, const char *path) {
  struct rule rule = {.target = open(path, O_PATH | O_CLOEXEC)};
  if (rule.target < 0) return -1;
  rule.allowed = access == 'w'   ? handled(version)
                 : access == 'r' ? right_run | right_read | right_list
                                 : right_list;
  const int beneath_path = 1;
  long result = syscall(SYS_landlock_add_rule, rules, beneath_path, &rule, 0U);
  if (result != 0) {
    // Rules for single files accept file rights only.
    rule.allowed &=
        right_run | right_write | right_read | (handled(version) & ~(rights_first | right_refer));
    result = syscall(SYS_landlock_add_rule, rules, beneath_path, &rule, 0U);
  }
  close(rule.target);
  return (int)result;
}

int confinement_enforce_rules(int rules) {
  return (int)syscall(SYS_landlock_restrict_self, rules, 0U);
}
