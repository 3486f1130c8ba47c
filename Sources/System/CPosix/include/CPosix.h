#pragma once

#include <stddef.h>

// Linux calls that Swift's Glibc module lacks, because they are variadic or need _GNU_SOURCE. Each
// returns -1 and sets errno on failure, as the call itself does. The header includes no more, so
// that libc's types stay Glibc's in Swift.

/// Renames unless something has the new name already (EEXIST).
int posix_rename_new(const char *from, const char *to);

/// The same for names in open folders.
int posix_rename_new_at(int from_folder, const char *from, int to_folder, const char *to);

/// Opens or makes a file in an open folder.
int posix_open_at(int folder, const char *path, int flags, unsigned int mode);

/// Starts writing a stretch of a file to the disk and does not wait for it.
int posix_start_writeback(int file, long offset, long count);

/// Lets one file share another's blocks.
int posix_clone(int to, int from);

/// Copies inside the kernel from one file's position to another's.
long posix_copy_range(int from, int to, size_t count);

/// Gives back the room that a stretch of a file takes; its length stays.
int posix_punch_hole(int descriptor, long offset, long length);

/// Opens what a relative path leads to without leaving `folder` and without following any link.
int posix_open_beneath(int folder, const char *path, int flags);

/// O_PATH: a descriptor that names a file and neither reads nor writes it.
int posix_path_only(void);

/// Takes a read lease on a file and gives it back. EAGAIN: a process has it open for writing.
int posix_probe_writers(int descriptor);

/// A counter to wake a thread that polls. Reading and writing it never wait.
int posix_wake_counter(void);

/// The number of the kind of file system that a file lies on; -1 where it cannot be told.
long posix_file_system_kind(int descriptor);

/// Where the next bytes of a file begin, from `offset` on (SEEK_DATA), or the next hole
/// (SEEK_HOLE).
long posix_seek_stretch(int descriptor, long offset, int is_hole);

/// A file that lies in memory only and is closed where another program starts.
int posix_memory_file(const char *name);

/// A pipe whose ends are closed where another program starts.
int posix_make_pipe(int ends[2]);

/// A pair of connected sockets that keep messages apart, closed where another program starts.
int posix_make_message_sockets(int ends[2]);

/// Sends one message with up to four open files. A socket without a reader is an error, not a signal.
long posix_send_message(int socket, const void *bytes, size_t count, const int *files,
                        int file_count);

/// Receives one message with its files, at most `*file_count` and four, whose number it puts there.
/// 0: the other end is closed. EMSGSIZE: the message is longer than `count`, or has more files.
long posix_receive_message(int socket, void *bytes, size_t count, int *files, int *file_count);

/// A file that lies in memory only, of a length that cannot change, and that is closed where another
/// program starts.
int posix_fixed_memory_file(const char *name, long length);

/// Limits malloc's arenas, and gives blocks from `threshold` bytes on mappings of their own.
void posix_set_arenas(int count, int threshold);

/// Gives malloc's free pages back to the system.
void posix_trim_memory(void);
