// The launcher: it confines one program by Landlock, seccomp and resource limits, inside bubblewrap's
// namespaces where Spool started that around it, and waits for the end of all that it started. It is
// C because it forks, and starts before anything else runs: as the program spool-confine where that is
// installed, else as the start of Spool's own executable. It links no library; libseccomp is opened.
#pragma once

// What is in force around the processes of `confinement_fork_readers`.
struct confinement_of_readers {
  // Landlock's version; 0 where the kernel has none.
  signed char landlock;
  // Whether system calls are filtered.
  signed char is_filtered;
};

// The layers of `confinement_fork_readers`.
enum { confinement_landlock = 1, confinement_filter = 2 };

// Forks a confined process for each file that Spool reads and does not trust. It is called by a process
// with one thread, which has opened the libraries that the readers need.
//
// It sends a `confinement_of_readers` on the socket `requests`, then answers each byte there with 0 and
// a socket to a new process, or with errno if none can be forked. In that process it returns the other
// end, which is all that the process has. The caller's process waits for the ends of the others: it
// sends two bytes on the socket of each, 2 and the number of the signal that ended or stopped it (0 for
// none). It kills those whose other ends are closed, and returns -1 when that of `requests` is.
//
// `layers` are those to use, so that tests can do without them.
int confinement_fork_readers(int requests, int layers);

// The kernel's Landlock version: 0 without Landlock, 1 from Linux 5.13. Version 2 adds moving files
// between folders, 3 truncation by path, 4 TCP, 5 ioctl on devices, 6 signals and abstract sockets.
int confinement_landlock_version(void);

// Confines and starts a program, and returns an exit code after the end of it and of all processes
// that it started, or if it could not be started.
//
// `words` are descriptors that the launcher inherits, in decimal, and a flag:
//   order      a file of NUL-terminated texts: "1" if the network is allowed; bytes of address
//              space; bytes of a file; processes of the user; the working folder; the number of
//              rules and the rules; the number of words and the words of the command; the number of
//              variables and the environment. A rule is r (read and execute), w (all access) or
//              l (list) and a path.
//   lifeline   a socket to Spool. When its other end is closed, the program is killed. It carries
//              the launcher's lines: "confined N L F P S C" before the program starts, with whether
//              it has namespaces, Landlock's version (0 if not in force), whether system calls are
//              filtered, privileges dropped, other processes hidden, and processes counted;
//              "failed TEXT" if it could not be started; "ended STATUS" with its status as waitpid
//              gives it; "left N" if so many processes could not be ended.
//   input, output, errors    the program's standard streams
//   group      an open cgroup.procs to enter, or -1
//   is enclosed    1 as the first process in bubblewrap's namespaces, else 0
int confinement_launch(int count, char *const *words);
