// A VFS of SQLite, on top of the system's, that finds flipped bits: see https://www.sqlite.org/vfs.html
// and https://www.sqlite.org/fileformat2.html.
//
// A database whose header reserves 8 bytes a page has the checksum of each page in them: XXH3 over
// the page and its number, so that a page of zeros, or one at another's place, does not pass. It is
// written with the page and verified with every read. Other databases pass as they are.
//
// A frame of the write-ahead log has a checksum of SQLite's own, which covers all frames before it.
// SQLite verifies it only where it recovers a log; here every read of a frame does. A damaged page
// is SQLITE_IOERR_DATA.

#include "CSealedPages.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { header_size = 100, log_header_size = 32, frame_header_size = 24 };

// Newer libraries read parts of pages from files with this property.
#ifndef SQLITE_IOCAP_SUBPAGE_READ
#define SQLITE_IOCAP_SUBPAGE_READ 0x00008000
#endif

enum state { unknown, plain, sealed };

struct file {
  sqlite3_file base;
  enum state state;
  int page_size;
  /// Room for a page.
  unsigned char *page;
  /// Of a log: where the last write ended.
  sqlite3_int64 end;
  /// Of a log: the first frame whose page was written again without its header, which SQLite does
  /// inside a transaction. Until its commit, checksums from here on are not valid.
  sqlite3_int64 unsummed;
};

static sqlite3_vfs system_vfs_copy;
static sqlite3_vfs *system_vfs;
static _Atomic(void (*)(void)) watch;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((struct file *)file + 1); }

static void pass_watch(void) {
  void (*before_write)(void) = atomic_load(&watch);
  if (before_write) before_write();
}

static int damaged(void) {
  // SQLite reports errno with every error of input and output.
  errno = 0;
  return SQLITE_IOERR_DATA;
}

static uint32_t big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Makes room for a page.
static int reserve(struct file *file, int size) {
  if (file->page && file->page_size == size) return SQLITE_OK;
  unsigned char *page = realloc(file->page, (size_t)size);
  if (!page) return SQLITE_IOERR_NOMEM;
  file->page = page;
  file->page_size = size;
  return SQLITE_OK;
}

// The database.

/// Takes page size and kind from a header; anything else leaves both as they are.
static int note_header(struct file *file, const unsigned char *header) {
  if (memcmp(header, "SQLite format 3", 16) != 0) return SQLITE_OK;
  int size = header[16] << 8 | header[17];
  if (size == 1) size = 65536;
  if (size < 512 || (size & (size - 1)) != 0) return SQLITE_OK;
  int status = reserve(file, size);
  if (status != SQLITE_OK) return status;
  file->state = header[20] == sealed_pages_checksum_size ? sealed : plain;
  return SQLITE_OK;
}

/// Reads the header of a file that had none, or no checksums, when it was looked at last.
static int learn(struct file *file) {
  unsigned char header[header_size];
  sqlite3_file *inner = real(&file->base);
  if (file->state == sealed) return SQLITE_OK;
  int status = inner->pMethods->xRead(inner, header, header_size, 0);
  if (status == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
  return status == SQLITE_OK ? note_header(file, header) : status;
}

static uint64_t checksum(const struct file *file, const unsigned char *page, sqlite3_int64 at) {
  size_t length = (size_t)file->page_size - sealed_pages_checksum_size;
  return XXH3_64bits_withSeed(page, length, (uint64_t)(at / file->page_size) + 1);
}

static int verify_page(const struct file *file, const unsigned char *page, sqlite3_int64 at) {
  const unsigned char *stored = page + file->page_size - sealed_pages_checksum_size;
  uint64_t sum = 0;
  for (int byte = sealed_pages_checksum_size - 1; byte >= 0; byte--) sum = sum << 8 | stored[byte];
  return sum == checksum(file, page, at) ? SQLITE_OK : damaged();
}

static int read_database(sqlite3_file *base, void *bytes, int count, sqlite3_int64 at) {
  struct file *file = (struct file *)base;
  sqlite3_file *inner = real(base);
  int (*read)(sqlite3_file *, void *, int, sqlite3_int64) = inner->pMethods->xRead;
  // SQLite looks at the header before it takes a lock; it reads the page before it relies on it.
  if (at + count <= header_size) {
    int status = read(inner, bytes, count, at);
    if (status != SQLITE_OK || at != 0 || count < header_size || file->state == sealed) return status;
    return note_header(file, bytes);
  }
  if (file->state == unknown) {
    int status = learn(file);
    if (status != SQLITE_OK) return status;
  }
  if (file->state == sealed && at / file->page_size == (at + count - 1) / file->page_size
      && count < file->page_size) {
    sqlite3_int64 start = at - at % file->page_size;
    int status = read(inner, file->page, file->page_size, start);
    if (status == SQLITE_OK) status = verify_page(file, file->page, start);
    if (status == SQLITE_OK) memcpy(bytes, file->page + (at - start), (size_t)count);
    return status == SQLITE_IOERR_SHORT_READ ? read(inner, bytes, count, at) : status;
  }
  int status = read(inner, bytes, count, at);
  if (status != SQLITE_OK) return status;
  if (file->state == plain && at == 0) status = note_header(file, bytes);
  if (status != SQLITE_OK || file->state != sealed) return status;
  return count == file->page_size && at % count == 0 ? verify_page(file, bytes, at) : SQLITE_OK;
}

static int write_database(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 at) {
  struct file *file = (struct file *)base;
  sqlite3_file *inner = real(base);
  pass_watch();
  // Another process may have given it its checksums meanwhile.
  int status = at == 0 && count >= header_size ? note_header(file, bytes) : learn(file);
  if (status != SQLITE_OK) return status;
  if (file->state != sealed || count != file->page_size || at % count != 0) {
    return inner->pMethods->xWrite(inner, bytes, count, at);
  }
  memcpy(file->page, bytes, (size_t)count);
  uint64_t sum = checksum(file, file->page, at);
  unsigned char *place = file->page + count - sealed_pages_checksum_size;
  for (int byte = 0; byte < sealed_pages_checksum_size; byte++) {
    place[byte] = (unsigned char)(sum >> (8 * byte));
  }
  return inner->pMethods->xWrite(inner, file->page, count, at);
}

static int control_database(sqlite3_file *base, int operation, void *argument) {
  struct file *file = (struct file *)base;
  sqlite3_file *inner = real(base);
  switch (operation) {
    case sealed_pages_query:
      *(int *)argument = learn(file) == SQLITE_OK && file->state == sealed;
      return SQLITE_OK;
    case sealed_pages_copy:
      file->state = sealed;
      return reserve(file, *(int *)argument);
    default: return inner->pMethods->xFileControl(inner, operation, argument);
  }
}

// The write-ahead log: https://www.sqlite.org/fileformat2.html#the_write_ahead_log.

/// Whether bytes at a place of a log can be the page of a frame.
static int is_frame_page(int count, sqlite3_int64 at) {
  return count >= 512 && (count & (count - 1)) == 0
    && (at - log_header_size) % (frame_header_size + count) == frame_header_size;
}

static uint32_t word(const unsigned char *bytes, int is_big_endian) {
  if (is_big_endian) return big_endian(bytes);
  return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/// Carries the log's checksum on over bytes whose number is a multiple of 8.
static void add_up(uint32_t sum[2], const unsigned char *bytes, int count, int is_big_endian) {
  for (int at = 0; at < count; at += 8) {
    sum[0] += word(bytes + at, is_big_endian) + sum[1];
    sum[1] += word(bytes + at + 4, is_big_endian) + sum[0];
  }
}

static int verify_frame(sqlite3_file *inner, const unsigned char *page, int count, sqlite3_int64 at) {
  unsigned char magic[4], previous[8], frame[frame_header_size];
  int (*read)(sqlite3_file *, void *, int, sqlite3_int64) = inner->pMethods->xRead;
  sqlite3_int64 start = at - frame_header_size;
  // The checksum before it: of the frame before, or of the log's header.
  sqlite3_int64 before =
    start == log_header_size ? log_header_size - 8 : start - count - (sqlite3_int64)sizeof previous;
  int status = read(inner, magic, sizeof magic, 0);
  if (status == SQLITE_OK) status = read(inner, previous, sizeof previous, before);
  if (status == SQLITE_OK) status = read(inner, frame, sizeof frame, start);
  if (status != SQLITE_OK) return status;
  int is_big_endian = magic[3] & 1;
  uint32_t sum[2] = {big_endian(previous), big_endian(previous + 4)};
  add_up(sum, frame, 8, is_big_endian);
  add_up(sum, page, count, is_big_endian);
  return sum[0] == big_endian(frame + 16) && sum[1] == big_endian(frame + 20) ? SQLITE_OK : damaged();
}

static int read_log(sqlite3_file *base, void *bytes, int count, sqlite3_int64 at) {
  struct file *file = (struct file *)base;
  sqlite3_file *inner = real(base);
  int status = inner->pMethods->xRead(inner, bytes, count, at);
  if (status != SQLITE_OK || !is_frame_page(count, at) || at >= file->unsummed) return status;
  return verify_frame(inner, bytes, count, at);
}

static int write_log(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 at) {
  struct file *file = (struct file *)base;
  sqlite3_file *inner = real(base);
  pass_watch();
  int is_header = count == log_header_size && at == 0;
  // A frame's header names the number of pages where it ends a transaction.
  int is_commit = count == frame_header_size && big_endian((const unsigned char *)bytes + 4) != 0;
  if (is_header || is_commit) {
    file->unsummed = INT64_MAX;
  } else if (is_frame_page(count, at) && at != file->end && at < file->unsummed) {
    file->unsummed = at;
  }
  file->end = at + count;
  return inner->pMethods->xWrite(inner, bytes, count, at);
}

static int control_log(sqlite3_file *base, int operation, void *argument) {
  return real(base)->pMethods->xFileControl(real(base), operation, argument);
}

// What is the same for both.

static int close_file(sqlite3_file *base) {
  struct file *file = (struct file *)base;
  free(file->page);
  file->page = NULL;
  return real(base)->pMethods->xClose(real(base));
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size) {
  pass_watch();
  return real(base)->pMethods->xTruncate(real(base), size);
}

static int sync_file(sqlite3_file *base, int flags) {
  return real(base)->pMethods->xSync(real(base), flags);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  return real(base)->pMethods->xFileSize(real(base), size);
}

static int lock_file(sqlite3_file *base, int lock) {
  return real(base)->pMethods->xLock(real(base), lock);
}

static int unlock_file(sqlite3_file *base, int lock) {
  return real(base)->pMethods->xUnlock(real(base), lock);
}

static int check_lock(sqlite3_file *base, int *is_reserved) {
  return real(base)->pMethods->xCheckReservedLock(real(base), is_reserved);
}

static int sector_size(sqlite3_file *base) { return real(base)->pMethods->xSectorSize(real(base)); }

static int characteristics(sqlite3_file *base) {
  return real(base)->pMethods->xDeviceCharacteristics(real(base)) & ~SQLITE_IOCAP_SUBPAGE_READ;
}

static int map_shared(sqlite3_file *base, int region, int size, int extend, void volatile **start) {
  return real(base)->pMethods->xShmMap(real(base), region, size, extend, start);
}

static int lock_shared(sqlite3_file *base, int offset, int count, int flags) {
  return real(base)->pMethods->xShmLock(real(base), offset, count, flags);
}

static void shared_barrier(sqlite3_file *base) { real(base)->pMethods->xShmBarrier(real(base)); }

static int unmap_shared(sqlite3_file *base, int is_deleting) {
  return real(base)->pMethods->xShmUnmap(real(base), is_deleting);
}

// Version 2: without the mapping of files, whose reads could not be verified.
static const sqlite3_io_methods database_methods = {
  2, close_file, read_database, write_database, truncate_file, sync_file, file_size, lock_file,
  unlock_file, check_lock, control_database, sector_size, characteristics, map_shared, lock_shared,
  shared_barrier, unmap_shared, NULL, NULL,
};

static const sqlite3_io_methods log_methods = {
  1, close_file, read_log, write_log, truncate_file, sync_file, file_size, lock_file, unlock_file,
  check_lock, control_log, sector_size, characteristics, NULL, NULL, NULL, NULL, NULL, NULL,
};

static int open_file(
  sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags
) {
  (void)vfs;
  if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) {
    return system_vfs->xOpen(system_vfs, name, base, flags, out_flags);
  }
  struct file *file = (struct file *)base;
  memset(file, 0, sizeof *file + (size_t)system_vfs->szOsFile);
  file->unsummed = INT64_MAX;
  file->end = -1;
  int status = system_vfs->xOpen(system_vfs, name, real(base), flags, out_flags);
  // With methods, SQLite closes the file also after a failure.
  if (real(base)->pMethods) {
    base->pMethods = flags & SQLITE_OPEN_WAL ? &log_methods : &database_methods;
  }
  return status;
}

static void register_vfs(void) {
  system_vfs = sqlite3_vfs_find(NULL);
  if (!system_vfs) return;
  system_vfs_copy = *system_vfs;
  system_vfs_copy.zName = "sealed-pages";
  system_vfs_copy.pNext = NULL;
  system_vfs_copy.szOsFile += (int)sizeof(struct file);
  system_vfs_copy.xOpen = open_file;
  sqlite3_vfs_register(&system_vfs_copy, 0);
}

const char *sealed_pages_vfs(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_vfs);
  return system_vfs_copy.zName;
}

void sealed_pages_watch(void (*before_write)(void)) { atomic_store(&watch, before_write); }
