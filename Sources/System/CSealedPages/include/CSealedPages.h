#pragma once

/// The bytes of a page's checksum, which SQLite reserves at the end of every page of a new database.
enum { sealed_pages_checksum_size = 8 };

/// Operations of sqlite3_file_control on a database that was opened through this VFS.
enum {
  /// Sets the int that the argument points to: 1 if the database's pages have checksums, 0 if not.
  sealed_pages_query = 0x53706C01,
  /// Says of a file that is still empty that it becomes a copy of a database with checksums; the
  /// argument points to its page size as an int.
  sealed_pages_copy = 0x53706C02,
};

/// The name of the VFS, which is registered on the first call; null if SQLite has none to build on.
const char *sealed_pages_vfs(void);

/// Calls a function before every write to a database or its write-ahead log, in all connections of
/// this process; null for none.
void sealed_pages_watch(void (*before_write)(void));
