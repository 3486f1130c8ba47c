#include "CAsoundLoader.h"

// libasound's own prototypes, with which those of this target have to agree.
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library_name[] = "libasound.so.2";

static struct {
  __typeof__(&snd_lib_error_set_handler) set_handler;
  __typeof__(&snd_pcm_open) open;
  __typeof__(&snd_pcm_close) close;
  __typeof__(&snd_pcm_hw_params_malloc) params_malloc;
  __typeof__(&snd_pcm_hw_params_free) params_free;
  __typeof__(&snd_pcm_hw_params_any) params_any;
  __typeof__(&snd_pcm_hw_params_set_channels_near) set_channels_near;
  __typeof__(&snd_pcm_set_params) set_params;
  __typeof__(&snd_pcm_prepare) prepare;
  __typeof__(&snd_pcm_drop) drop;
  __typeof__(&snd_pcm_drain) drain;
  __typeof__(&snd_pcm_recover) recover;
  __typeof__(&snd_pcm_delay) delay;
  __typeof__(&snd_pcm_writei) writei;
  __typeof__(&snd_strerror) strerror;
} asound;

static char load_error[256];
static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static _Thread_local char first_message[256];

static void keep_message(const char *file, int line, const char *function, int error,
                         const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error;
  if (first_message[0]) return;
  va_list values;
  va_start(values, format);
  vsnprintf(first_message, sizeof first_message, format, values);
  va_end(values);
  first_message[strcspn(first_message, "\r\n")] = 0;
}

static void load(void) {
  void *library = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    snprintf(load_error, sizeof load_error, "%s", dlerror());
    return;
  }
  const struct {
    void **address;
    const char *name;
  } functions[] = {
      {(void **)&asound.set_handler, "snd_lib_error_set_handler"},
      {(void **)&asound.open, "snd_pcm_open"},
      {(void **)&asound.close, "snd_pcm_close"},
      {(void **)&asound.params_malloc, "snd_pcm_hw_params_malloc"},
      {(void **)&asound.params_free, "snd_pcm_hw_params_free"},
      {(void **)&asound.params_any, "snd_pcm_hw_params_any"},
      {(void **)&asound.set_channels_near, "snd_pcm_hw_params_set_channels_near"},
      {(void **)&asound.set_params, "snd_pcm_set_params"},
      {(void **)&asound.prepare, "snd_pcm_prepare"},
      {(void **)&asound.drop, "snd_pcm_drop"},
      {(void **)&asound.drain, "snd_pcm_drain"},
      {(void **)&asound.recover, "snd_pcm_recover"},
      {(void **)&asound.delay, "snd_pcm_delay"},
      {(void **)&asound.writei, "snd_pcm_writei"},
      {(void **)&asound.strerror, "snd_strerror"},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    *functions[index].address = dlsym(library, functions[index].name);
    if (*functions[index].address) continue;
    snprintf(load_error, sizeof load_error, "%s has no %s", library_name, functions[index].name);
    return;
  }
  asound.set_handler(keep_message);
}

int spool_asound_load(char *error, size_t length) {
  pthread_once(&load_once, load);
  if (!load_error[0]) return 0;
  if (length > 0) snprintf(error, length, "%s", load_error);
  return -1;
}

static void require(void) {
  pthread_once(&load_once, load);
  if (!load_error[0]) return;
  fprintf(stderr, "spool: %s\n", load_error);
  abort();
}

const char *spool_asound_message(void) { return first_message; }

void spool_asound_forget_message(void) { first_message[0] = 0; }

int spool_asound_open(snd_pcm_t **pcm, const char *name) {
  require();
  return asound.open(pcm, name, SND_PCM_STREAM_PLAYBACK, SND_PCM_NO_AUTO_CHANNELS);
}

int spool_asound_channels(snd_pcm_t *pcm, unsigned wanted) {
  require();
  snd_pcm_hw_params_t *params = NULL;
  int status = asound.params_malloc(&params);
  if (status < 0) return status;
  unsigned channels = wanted;
  status = asound.params_any(pcm, params);
  if (status >= 0) status = asound.set_channels_near(pcm, params, &channels);
  asound.params_free(params);
  return status < 0 ? status : (int)channels;
}

int spool_asound_set(snd_pcm_t *pcm, unsigned channels, unsigned rate, unsigned latency) {
  require();
  return asound.set_params(pcm, SND_PCM_FORMAT_FLOAT, SND_PCM_ACCESS_RW_INTERLEAVED, channels, rate,
                           1, latency);
}

int snd_pcm_close(snd_pcm_t *pcm) { return require(), asound.close(pcm); }
int snd_pcm_prepare(snd_pcm_t *pcm) { return require(), asound.prepare(pcm); }
int snd_pcm_drop(snd_pcm_t *pcm) { return require(), asound.drop(pcm); }
int snd_pcm_drain(snd_pcm_t *pcm) { return require(), asound.drain(pcm); }
int snd_pcm_recover(snd_pcm_t *pcm, int error, int silent) {
  return require(), asound.recover(pcm, error, silent);
}
int snd_pcm_delay(snd_pcm_t *pcm, long *frames) { return require(), asound.delay(pcm, frames); }
long snd_pcm_writei(snd_pcm_t *pcm, const void *samples, unsigned long frames) {
  return require(), asound.writei(pcm, samples, frames);
}
const char *snd_strerror(int error) { return require(), asound.strerror(error); }
