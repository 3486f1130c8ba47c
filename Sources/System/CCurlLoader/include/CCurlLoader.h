// One exchange with a web server through libcurl, which is opened when it is first needed.
//
// Linking it would make every start of the program load some thirty shared libraries for what most
// commands never do. And its options are set by a function of variable arguments, which Swift cannot
// call.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is sent.
struct spool_post {
  const char *url;
  // The header line that names the kind of the body: "Content-Type: …".
  const char *content_type;
  const uint8_t *body;
  size_t body_length;
  // The whole exchange takes no longer, in milliseconds.
  long patience;
  // Asked at least once a second, with `context`; false ends the exchange.
  bool (*may_go_on)(void *context);
  void *context;
};

// What came back.
struct spool_answer {
  // Where the body goes; what does not fit ends the exchange.
  uint8_t *body;
  size_t capacity;
  size_t body_length;
  // The status code of HTTP; 0 where there was none.
  long status;
  bool is_too_long;
  // Why there was no answer, in libcurl's words.
  char reason[256];
};

// Posts over http or https, follows no redirect, and fills `answer`. Gives 0 when an answer came,
// whatever its status. Thread-safe. Blocks.
int spool_curl_post(const struct spool_post *post, struct spool_answer *answer);
