#pragma once
// Debian's library has the session extension, which its header declares only on request.
#define SQLITE_ENABLE_SESSION 1
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
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
