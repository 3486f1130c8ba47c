#include "CCurlLoader.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// libcurl's functions by their own prototypes, found when they are first needed.
static struct {
  __typeof__(&curl_global_init) global_init;
  __typeof__(&curl_easy_init) init;
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

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  struct spool_answer *answer = context;
  size_t length = size * count;
  if (length > answer->capacity - answer->body_length) {
    answer->is_too_long = true;
    return 0;
  }
  memcpy(answer->body + answer->body_length, bytes, length);
  answer->body_length += length;
  return length;
}

static int look(void *context, curl_off_t all_down, curl_off_t down, curl_off_t all_up,
                curl_off_t up) {
  (void)all_down, (void)down, (void)all_up, (void)up;
  const struct spool_post *post = context;
  return post->may_go_on(post->context) ? 0 : 1;
}

int spool_curl_post(const struct spool_post *post, struct spool_answer *answer) {
  pthread_once(&load_once, load);
  answer->body_length = 0;
  answer->status = 0;
  answer->is_too_long = false;
  answer->reason[0] = 0;
  if (load_error[0]) {
    snprintf(answer->reason, sizeof answer->reason, "%s", load_error);
    return -1;
  }
  char words[CURL_ERROR_SIZE] = "";
  struct curl_slist *headers = curl.append(NULL, post->content_type);
  CURL *handle = curl.init();
  CURLcode code = headers && handle ? CURLE_OK : CURLE_OUT_OF_MEMORY;
#define SET(option, value) \
  if (code == CURLE_OK) code = curl.setopt(handle, option, value)
  SET(CURLOPT_ERRORBUFFER, words);
  SET(CURLOPT_URL, post->url);
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_HTTPHEADER, headers);
  SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body_length);
  SET(CURLOPT_POSTFIELDS, (const char *)post->body);
  SET(CURLOPT_TIMEOUT_MS, post->patience);
  SET(CURLOPT_CONNECTTIMEOUT_MS, post->patience);
  // Signals belong to the program: without this, a name that is looked up may raise one.
  SET(CURLOPT_NOSIGNAL, 1L);
  // A name server that does not answer must not keep what is over from ending.
  SET(CURLOPT_QUICK_EXIT, 1L);
  SET(CURLOPT_WRITEFUNCTION, take);
  SET(CURLOPT_WRITEDATA, answer);
  SET(CURLOPT_NOPROGRESS, 0L);
  SET(CURLOPT_XFERINFOFUNCTION, look);
  SET(CURLOPT_XFERINFODATA, post);
#undef SET
  if (code == CURLE_OK) code = curl.perform(handle);
  if (code == CURLE_OK) code = curl.getinfo(handle, CURLINFO_RESPONSE_CODE, &answer->status);
  if (code != CURLE_OK)
    snprintf(answer->reason, sizeof answer->reason, "%s",
             words[0] ? words : curl.strerror(code));
  if (handle) curl.cleanup(handle);
  if (headers) curl.free_all(headers);
  return code == CURLE_OK ? 0 : -1;
}
