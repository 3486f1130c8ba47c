// Confines a process: Landlock, seccomp, resource limits and namespaces.
//
// Called by a single-threaded program that confines itself and then starts or becomes the plugin.
// Functions that return int return -1 on failure, with the reason in errno.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

// MARK: Files and signals (Landlock)

// The kernel's Landlock version: 0 without Landlock, 1 from Linux 5.13. Version 2 adds moving files
// between folders, 3 truncation by path, 4 TCP, 5 ioctl on devices, 6 signals and abstract sockets.
int confinement_landlock_version(void);

// Creates a ruleset that refuses every right of a version; TCP only without a network.
int confinement_begin_rules(int version, bool has_network);

enum confinement_access {
  // Reading and executing a file, or everything in a folder.
  confinement_read = 0,
  // All access.
  confinement_write = 1,
  // Listing a folder and its subfolders.
  confinement_list = 2,
};

// Allows access to a file, or to everything in a folder.
int confinement_allow(int rules, int version, const char *path, enum confinement_access access);

// Limits this process and its descendants to the allowed files, and signals to their own domain.
int confinement_enforce_rules(int rules);

// MARK: System calls (seccomp)

// Refuses system calls that bypass the other layers, for this process and its descendants: other
// processes, keys, mounts, namespaces, kernel administration, io_uring and sockets. With a network,
// IP and netlink sockets remain. `no_truncating` refuses truncation by path, for Landlock before
// version 3. `is_among_others`, without namespaces, refuses priorities of other processes and
// persistent System V and POSIX objects.
int confinement_filter_calls(bool has_network, bool no_truncating, bool is_among_others);

// MARK: Privileges and limits

// Prevents new privileges by exec, and drops root's capabilities except access to all files.
int confinement_drop_privileges(void);

// Hides this process's memory from other processes until the next exec.
void confinement_hide_memory(void);

// Sets hard limits: bytes of address space, bytes of a file, processes of the user, open files.
// Lower existing limits stay. Disables core files.
void confinement_limit(unsigned long memory, unsigned long file, unsigned long processes,
                       unsigned long files);

// Marks every descriptor from `first` on close-on-exec.
int confinement_close_from(unsigned int first);

// Kills the process when its parent dies.
int confinement_die_with_parent(void);

// MARK: Namespaces

// Moves this process into new mount and IPC namespaces, its children into a new PID namespace, and
// without a network all of them into an empty network namespace; if necessary as owner of a user
// namespace that keeps its user. False, without any effect, if the kernel or its configuration
// refuses.
bool confinement_unshare(bool has_network);

// Remounts everything read-only except `writable`, a NULL-terminated list of absolute paths of
// which missing ones are skipped; allows only harmless devices. Needs Linux 5.12. False if not all
// of it succeeded.
bool confinement_close_mounts(const char *const *writable);

// Mounts an empty folder of so many megabytes over /dev/shm that shows only the paths in `kept`.
bool confinement_own_shared_memory(unsigned long megabytes, const char *const *kept);

// Mounts a /proc of this PID namespace. Only its first process can do so.
bool confinement_own_processes(void);

// MARK: Processes

// Forks this single-threaded process; 0 in the child.
pid_t confinement_fork(void);

// Makes this process reap its children itself and adopt orphaned descendants.
void confinement_await_children(void);

// Restores signal handling in a child before exec.
void confinement_take_signals(void);

// Closes the standard streams, so that Spool sees the plugin close them.
void confinement_leave_pipes(void);

// Kills all descendants of this process, including adopted ones, and returns how many survived for
// `patience` milliseconds: usually 0.
int confinement_end_descendants(unsigned int patience);

// Waits for a child, and kills it when the other end of the socket `lifeline` is closed. Then kills
// its descendants, for at most ten seconds, and writes the number of survivors to `left`. Returns
// the child's waitpid status.
int confinement_supervise(pid_t child, int lifeline, int *left);

// The main loop of a PID namespace's first process: reaps children, writes the status of `child` to
// a pipe, and exits, which kills the rest.
_Noreturn void confinement_rule(pid_t child, int report);

// The status that the first process wrote, or `otherwise` if it wrote none.
int confinement_reported(int report, int otherwise);

// Exits with another process's exit code, or by its signal.
_Noreturn void confinement_end_as(int status);

#pragma GCC visibility pop
