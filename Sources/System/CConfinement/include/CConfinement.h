// What takes rights away from a process: rules for files, filters of system calls, limits, and
// namespaces of the kernel.
//
// It is called by a program of one thread, which gives up what a plugin must not have and then starts
// or becomes the plugin. Functions that give int give -1 on failure and leave the reason in errno.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

// MARK: Files and signals (Landlock)

// The version of Landlock that the kernel has: 0 where it has none, 1 from Linux 5.13 on. From 2 on,
// files may be moved between folders; from 3 on, they cannot be emptied by path; from 4 on, TCP can be
// refused; from 5 on, what devices are told to do; from 6 on, signals to other processes and abstract
// sockets.
int confinement_landlock_version(void);

// Begins a set of rules for all that a version knows, which refuse everything. TCP is refused unless
// there is a network.
int confinement_begin_rules(int version, bool has_network);

// What rules allow.
enum confinement_access {
  // To read and run a file, or all in a folder.
  confinement_read = 0,
  // To do anything with it.
  confinement_write = 1,
  // To list a folder and those in it.
  confinement_list = 2,
};

// Allows a file, or all in a folder.
int confinement_allow(int rules, int version, const char *path, enum confinement_access access);

// From here on, this process and all that it starts have no files but those allowed, and send signals to
// nobody else.
int confinement_enforce_rules(int rules);

// MARK: System calls (seccomp)

// From here on, this process and all that it starts are refused the calls that reach around the rest: those
// that act on other processes, keys, mounts, namespaces and the kernel, rings of requests (io_uring),
// and sockets. With a network, those of IP and of its configuration are left. `no_truncating` refuses
// to cut files by path, for kernels that cannot tell which. `is_among_others`, where there are no
// namespaces, refuses priorities of others, and shared memory, queues and semaphores that would be
// left.
int confinement_filter_calls(bool has_network, bool no_truncating, bool is_among_others);

// MARK: Privileges and limits

// From here on, no program that this process becomes has more rights than it has, and root has no more than
// that of the owner of all files.
int confinement_drop_privileges(void);

// From here on, no other process sees this one's memory, until it becomes another program.
void confinement_hide_memory(void);

// Limits bytes of address space, bytes of a file, processes of the user and open files for good; a limit
// that is lower already stays. No core files.
void confinement_limit(unsigned long memory, unsigned long file, unsigned long processes,
                       unsigned long files);

// Closes every descriptor from `first` on where another program starts.
int confinement_close_from(unsigned int first);

// The process is killed when the one that started it dies.
int confinement_die_with_parent(void);

// MARK: Namespaces

// Puts this process into namespaces of its own for mounts and for communication, its children into one
// for processes, and without a network all of them into one that has none: as it is where it may, and
// else as the owner of a namespace of users in which it stays the user that it is. False where the
// kernel or the machine's rules refuse; then nothing has changed.
bool confinement_unshare(bool has_network);

// From here on, every file that is mounted can only be read, but for those in `writable`, absolute paths with
// NULL at their end, of which those that do not exist are left out; and no device can be used but
// those that are no thing. Needs Linux 5.12. False where not all of that could be done.
bool confinement_close_mounts(const char *const *writable);

// Puts an empty folder of so many megabytes over /dev/shm, in which only what lies in it of `kept` is
// seen as before.
bool confinement_own_shared_memory(unsigned long megabytes, const char *const *kept);

// Lets /proc show the processes of this process's namespace only. Only its first process can do so.
bool confinement_own_processes(void);

// MARK: Processes

// Starts a copy of this process, which has one thread: 0 in the copy.
pid_t confinement_fork(void);

// From here on, ends of children wait to be asked for, and what children leave behind is this process's
// own.
void confinement_await_children(void);

// Undoes what was held back, in a copy that becomes another program.
void confinement_take_signals(void);

// Reads, writes and complains no more, so that whoever listens hears the plugin's end.
void confinement_leave_pipes(void);

// Ends all that descends from this process, which takes over what its descendants leave behind, and gives how
// many it could not end in so many milliseconds: 0 as a rule.
int confinement_end_descendants(unsigned int patience);

// Blocks until a child has ended, and ends it when `lifeline`, a socket, is closed at the other end or
// written to no more. Then ends all that is left of it, for ten seconds at most; how many were left then
// is written to `left`. Gives the status of the child, as of waitpid.
int confinement_supervise(pid_t child, int lifeline, int *left);

// What the first process of a namespace does: buries whoever ends, writes the status of `child` to a
// pipe when it is that one, and ends, and all that is left with it.
_Noreturn void confinement_rule(pid_t child, int report);

// The status that the first process wrote, or `otherwise` where it wrote none.
int confinement_reported(int report, int otherwise);

// Ends as another process did: with its exit code, or by its signal.
_Noreturn void confinement_end_as(int status);

#pragma GCC visibility pop
