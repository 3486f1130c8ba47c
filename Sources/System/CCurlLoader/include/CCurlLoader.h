// Transfers through libcurl, which is opened when it is first needed.
//
// Linking it would make every start of the program load some thirty shared libraries for what most
// commands never do. And its options are set by a function of variable arguments, which Swift cannot
// call.
#pragma once
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The size of a text that says what went wrong.
enum { spool_curl_reason_size = CURL_ERROR_SIZE };

// A connection that is used again, for one thread at a time. NULL where there is none: `reason` says
// why, in at most `spool_curl_reason_size` bytes.
CURL *spool_curl_open(char *reason);
void spool_curl_close(CURL *connection);

// Forgets all options, and keeps connections and what is known of hosts.
void spool_curl_reset(CURL *connection);

// Sets an option of each kind. libcurl copies texts.
CURLcode spool_curl_set_number(CURL *connection, CURLoption option, long value);
CURLcode spool_curl_set_offset(CURL *connection, CURLoption option, int64_t value);
CURLcode spool_curl_set_text(CURL *connection, CURLoption option, const char *text);
// A list has to outlive the transfer.
CURLcode spool_curl_set_list(CURL *connection, CURLoption option, struct curl_slist *list);

// A longer list, or NULL where memory is short.
struct curl_slist *spool_curl_append(struct curl_slist *list, const char *text);
void spool_curl_free(struct curl_slist *list);

// What is sent and where it goes that comes back.
struct spool_exchange {
  // The body to send: `sent_length` bytes in memory, or of a file from an offset on.
  const uint8_t *sent;
  int sent_file;
  int64_t sent_offset;
  int64_t sent_length;

  // What comes back of a header, and of a body that is not for `take`. What does not fit ends the
  // exchange.
  uint8_t *header;
  size_t header_capacity;
  size_t header_length;
  uint8_t *body;
  size_t body_capacity;
  size_t body_length;

  // Takes the body of a success where it is not NULL; false ends the exchange.
  bool (*take)(void *context, const uint8_t *bytes, size_t count);
  // Asked at least once a second, with how much of the body was sent; false ends the exchange.
  bool (*may_go_on)(void *context, int64_t sent);
  void *context;

  // The status code of HTTP; 0 where there was none.
  long status;
  bool is_header_too_long;
  bool is_body_too_long;
  // The file has fewer bytes than were to be sent, or cannot be read.
  bool is_file_short;
  // `may_go_on` or `take` said false.
  bool was_ended;
  // What `CURLINFO_FILETIME_T` and `CURLINFO_CONTENT_LENGTH_DOWNLOAD_T` say; -1 where it is unknown.
  int64_t file_time;
  int64_t file_length;
  // Why there was no answer, in libcurl's words.
  char reason[spool_curl_reason_size];
};

// Makes the transfer that the options describe. Thread-safe for different connections. Blocks.
CURLcode spool_curl_perform(CURL *connection, struct spool_exchange *exchange);

// Refuses every server that the file of known hosts does not have with the same key.
CURLcode spool_curl_trust_known_hosts_only(CURL *connection);

// Whether the server that this thread has refused last showed another key than that file has.
int spool_curl_was_key_changed(void);
