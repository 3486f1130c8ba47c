// The parts of the launcher. Functions that return int return -1 on failure, with the reason in
// errno.
#pragma once
#include <linux/filter.h>
#include <stdbool.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

// MARK: Files and signals (Landlock)

// Creates a ruleset that refuses every right of a version; TCP only without a network.
int confinement_begin_rules(int version, bool has_network);

// Allows r (reading and executing), w (all access) or l (listing) of a file, or of everything in a
// folder.
int confinement_allow(int rules, int version, char access, const char *path);

// Limits this process and its descendants to the allowed files, and signals to their own domain.
int confinement_enforce_rules(int rules);

// MARK: System calls (libseccomp)

// Refuses system calls that bypass the other layers, for this process and its descendants: other
// processes, keys, mounts, namespaces, kernel administration, io_uring and sockets. With a network,
// IP and netlink sockets remain. `no_truncating` refuses truncation by path, for Landlock before
// version 3. `is_among_others`, without namespaces, refuses priorities of other processes and
// persistent System V and POSIX objects. False without libseccomp.
bool confinement_filter_calls(bool has_network, bool no_truncating, bool is_among_others);

// Makes the filter of a process that reads an untrusted file: it allows what decoding needs (its open
// files, memory, time and sockets that are open), and no file or socket to open, no process or thread
// to start, and no signal to send. NULL without libseccomp. The caller frees nothing.
const struct sock_fprog *confinement_reader_filter(void);

// MARK: Privileges and limits

// Prevents new privileges by exec, and drops root's capabilities; with `keeps_files` all but the access
// to files that their owner protects from other users.
int confinement_drop_privileges(bool keeps_files);

// Sets hard limits: bytes of address space, bytes of a file, processes of the user, open files.
// Lower existing limits stay. Disables core files.
void confinement_limit(unsigned long memory, unsigned long file, unsigned long processes,
                       unsigned long files);

// MARK: Processes

// Kills all descendants of this process, including adopted ones, and returns how many survived for
// `patience` milliseconds: usually 0.
int confinement_end_descendants(unsigned int patience);

#pragma GCC visibility pop
