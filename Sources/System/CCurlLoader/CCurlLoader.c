#include "CCurlLoader.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

// libcurl's functions by their own prototypes, found when they are first needed.
static struct {
  __typeof__(&curl_global_init) global_init;
  __typeof__(&curl_easy_init) init;
  __typeof__(&curl_easy_reset) reset;
  // Not of its own type: that has variable arguments, and so has this.
  CURLcode (*setopt)(CURL *, CURLoption, ...);
  __typeof__(&curl_easy_perform) perform;
  CURLcode (*getinfo)(CURL *, CURLINFO, ...);
  __typeof__(&curl_easy_cleanup) cleanup;
  __typeof__(&curl_easy_strerror) strerror;
  __typeof__(&curl_slist_append) append;
  __typeof__(&curl_slist_free_all) free_all;
} curl;

static char load_error[200];
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    snprintf(load_error, sizeof load_error, "%s", dlerror());
    return;
  }
  const struct {
    void **address;
    const char *name;
  } functions[] = {
      {(void **)&curl.global_init, "curl_global_init"},
      {(void **)&curl.init, "curl_easy_init"},
      {(void **)&curl.reset, "curl_easy_reset"},
      {(void **)&curl.setopt, "curl_easy_setopt"},
      {(void **)&curl.perform, "curl_easy_perform"},
      {(void **)&curl.getinfo, "curl_easy_getinfo"},
      {(void **)&curl.cleanup, "curl_easy_cleanup"},
      {(void **)&curl.strerror, "curl_easy_strerror"},
      {(void **)&curl.append, "curl_slist_append"},
      {(void **)&curl.free_all, "curl_slist_free_all"},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    *functions[index].address = dlsym(library, functions[index].name);
    if (*functions[index].address) continue;
    snprintf(load_error, sizeof load_error, "libcurl.so.4 has no %s", functions[index].name);
    return;
  }
  if (curl.global_init(CURL_GLOBAL_ALL) != CURLE_OK)
    snprintf(load_error, sizeof load_error, "libcurl cannot begin");
}

CURL *spool_curl_open(char *reason) {
  pthread_once(&load_once, load);
  if (load_error[0]) {
    snprintf(reason, spool_curl_reason_size, "%s", load_error);
    return NULL;
  }
  CURL *connection = curl.init();
  if (!connection) snprintf(reason, spool_curl_reason_size, "out of memory");
  return connection;
}

void spool_curl_close(CURL *connection) { curl.cleanup(connection); }

void spool_curl_reset(CURL *connection) { curl.reset(connection); }

CURLcode spool_curl_set_number(CURL *connection, CURLoption option, long value) {
  return curl.setopt(connection, option, value);
}

CURLcode spool_curl_set_offset(CURL *connection, CURLoption option, int64_t value) {
  return curl.setopt(connection, option, (curl_off_t)value);
}

CURLcode spool_curl_set_text(CURL *connection, CURLoption option, const char *text) {
  return curl.setopt(connection, option, text);
}

CURLcode spool_curl_set_list(CURL *connection, CURLoption option, struct curl_slist *list) {
  return curl.setopt(connection, option, list);
}

struct curl_slist *spool_curl_append(struct curl_slist *list, const char *text) {
  return curl.append(list, text);
}

void spool_curl_free(struct curl_slist *list) { curl.free_all(list); }

// An exchange while it is made.
struct work {
  CURL *connection;
  struct spool_exchange *exchange;
  // How much of the body was handed out.
  int64_t given;
};

static size_t give(char *room, size_t size, size_t count, void *context) {
  struct work *work = context;
  struct spool_exchange *exchange = work->exchange;
  size_t capacity = size * count;
  const int64_t rest = exchange->sent_length - work->given;
  if ((int64_t)capacity > rest) capacity = (size_t)rest;
  if (capacity == 0) return 0;
  if (exchange->sent) {
    memcpy(room, exchange->sent + work->given, capacity);
  } else {
    ssize_t got;
    do {
      got = pread(exchange->sent_file, room, capacity, exchange->sent_offset + work->given);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
      exchange->is_file_short = true;
      return CURL_READFUNC_ABORT;
    }
    capacity = (size_t)got;
  }
  work->given += (int64_t)capacity;
  return capacity;
}

// libcurl sends the body again where a connection that it used again was closed by the server.
static int rewind_body(void *context, curl_off_t offset, int origin) {
  struct work *work = context;
  if (origin != SEEK_SET || offset < 0 || offset > work->exchange->sent_length)
    return CURL_SEEKFUNC_CANTSEEK;
  work->given = offset;
  return CURL_SEEKFUNC_OK;
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  struct work *work = context;
  struct spool_exchange *exchange = work->exchange;
  const size_t length = size * count;
  long status = 0;
  curl.getinfo(work->connection, CURLINFO_RESPONSE_CODE, &status);
  if (exchange->take && status < 300) {
    if (exchange->take(exchange->context, (const uint8_t *)bytes, length)) return length;
    exchange->was_ended = true;
    return length + 1;
  }
  if (length > exchange->body_capacity - exchange->body_length) {
    exchange->is_body_too_long = true;
    return length + 1;
  }
  memcpy(exchange->body + exchange->body_length, bytes, length);
  exchange->body_length += length;
  return length;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
  struct spool_exchange *exchange = ((struct work *)context)->exchange;
  const size_t length = size * count;
  if (length > exchange->header_capacity - exchange->header_length) {
    exchange->is_header_too_long = true;
    return length + 1;
  }
  memcpy(exchange->header + exchange->header_length, bytes, length);
  exchange->header_length += length;
  return length;
}

static int look(void *context, curl_off_t all_down, curl_off_t down, curl_off_t all_up,
                curl_off_t up) {
  (void)all_down, (void)down, (void)all_up;
  struct spool_exchange *exchange = ((struct work *)context)->exchange;
  if (exchange->may_go_on(exchange->context, up)) return 0;
  exchange->was_ended = true;
  return 1;
}

CURLcode spool_curl_perform(CURL *connection, struct spool_exchange *exchange) {
  struct work work = {connection, exchange, 0};
  exchange->header_length = 0;
  exchange->body_length = 0;
  exchange->status = 0;
  exchange->is_header_too_long = exchange->is_body_too_long = false;
  exchange->is_file_short = exchange->was_ended = false;
  exchange->file_time = exchange->file_length = -1;
  exchange->reason[0] = 0;
  CURLcode code = CURLE_OK;
#define SET(option, value) \
  if (code == CURLE_OK) code = curl.setopt(connection, option, value)
  SET(CURLOPT_ERRORBUFFER, exchange->reason);
  SET(CURLOPT_READFUNCTION, give);
  SET(CURLOPT_READDATA, &work);
  SET(CURLOPT_SEEKFUNCTION, rewind_body);
  SET(CURLOPT_SEEKDATA, &work);
  SET(CURLOPT_WRITEFUNCTION, take);
  SET(CURLOPT_WRITEDATA, &work);
  SET(CURLOPT_HEADERFUNCTION, take_header);
  SET(CURLOPT_HEADERDATA, &work);
  SET(CURLOPT_NOPROGRESS, 0L);
  SET(CURLOPT_XFERINFOFUNCTION, look);
  SET(CURLOPT_XFERINFODATA, &work);
  // Signals belong to the program: without this, a name that is looked up may raise one.
  SET(CURLOPT_NOSIGNAL, 1L);
  // A name server that does not answer must not keep what is over from ending.
  SET(CURLOPT_QUICK_EXIT, 1L);
#undef SET
  if (code == CURLE_OK) code = curl.perform(connection);
  curl.getinfo(connection, CURLINFO_RESPONSE_CODE, &exchange->status);
  curl_off_t number = -1;
  if (curl.getinfo(connection, CURLINFO_FILETIME_T, &number) == CURLE_OK)
    exchange->file_time = number;
  number = -1;
  if (curl.getinfo(connection, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &number) == CURLE_OK)
    exchange->file_length = number;
  if (code != CURLE_OK && !exchange->reason[0])
    snprintf(exchange->reason, sizeof exchange->reason, "%s", curl.strerror(code));
  // Neither outlives this call.
  curl.setopt(connection, CURLOPT_ERRORBUFFER, NULL);
  curl.setopt(connection, CURLOPT_XFERINFODATA, NULL);
  return code;
}

// Whether the server that this thread has refused last showed another key than the one that is known.
static _Thread_local int was_key_changed;

static int refuse_unknown(CURL *connection, const struct curl_khkey *known,
                          const struct curl_khkey *found, enum curl_khmatch match, void *context) {
  (void)connection, (void)known, (void)found, (void)context;
  was_key_changed = match == CURLKHMATCH_MISMATCH;
  return match == CURLKHMATCH_OK ? CURLKHSTAT_FINE : CURLKHSTAT_REJECT;
}

CURLcode spool_curl_trust_known_hosts_only(CURL *connection) {
  return curl.setopt(connection, CURLOPT_SSH_KEYFUNCTION, refuse_unknown);
}

int spool_curl_was_key_changed(void) { return was_key_changed; }
