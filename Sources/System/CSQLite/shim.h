#pragma once
#include <sqlite3.h>

/// Makes "text" in double quotes a name and never a string: sqlite3_db_config is variadic.
static inline int sqlite3_forbid_double_quoted_strings(sqlite3 *database) {
  int status = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
  if (status != SQLITE_OK) return status;
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
}

/// Leaves the write-ahead log as it is when the last connection closes, so that a look changes
/// nothing.
static inline int sqlite3_forbid_checkpoint_on_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// The calls of the full text search of a connection; null where SQLite was built without it. The type
/// of the pointer that is bound has to be a static string.
static inline fts5_api *sqlite3_fts5_calls(sqlite3 *database) {
  fts5_api *calls = (fts5_api *)0;
  sqlite3_stmt *statement = (sqlite3_stmt *)0;
  if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, (const char **)0) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, &calls, "fts5_api_ptr", (void (*)(void *))0);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  return calls;
}
