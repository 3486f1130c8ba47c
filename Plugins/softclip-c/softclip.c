/* Softclip: a memoryless curve on every sample. It remembers only how many samples it bent by more than
 * a decibel, for the figures at the end. */
#include "spool_plugin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double drive, ceiling;
  int is_cubic;
  uint32_t channels;
  uint64_t samples, bent;
  char figures[96];
} softclip;

static void *create(const spool_setting *setting) {
  softclip *clip = calloc(1, sizeof *clip);
  if (!clip) {
    snprintf(setting->reason, setting->reason_size, "there is no memory");
    return NULL;
  }
  clip->drive = pow(10, spool_number(setting, "drive", 6) / 20);
  clip->ceiling = pow(10, spool_number(setting, "ceiling", -1) / 20);
  clip->is_cubic = strcmp(spool_text(setting, "curve", "tanh"), "cubic") == 0;
  clip->channels = setting->channels;
  return clip;
}

/* Slope 1 at 0, and never beyond ±1. */
static double cubic(double x) {
  if (x >= 1.5) return 1;
  if (x <= -1.5) return -1;
  return x - 4.0 / 27 * x * x * x;
}

static int process(void *effect, float *samples, uint32_t frames) {
  softclip *clip = effect;
  const size_t count = (size_t)frames * clip->channels;
  for (size_t n = 0; n < count; n++) {
    const double straight = clip->drive * samples[n];
    const double x = straight / clip->ceiling;
    const double y = clip->ceiling * (clip->is_cubic ? cubic(x) : tanh(x));
    clip->bent += fabs(y) < 0.891 * fabs(straight);
    samples[n] = (float)y;
  }
  clip->samples += count;
  return 0;
}

static size_t state_size(const void *effect) {
  (void)effect;
  return 2 * sizeof(uint64_t);
}

static void save(const void *effect, void *bytes) {
  const softclip *clip = effect;
  const uint64_t counts[2] = {clip->samples, clip->bent};
  memcpy(bytes, counts, sizeof counts);
}

static int restore(void *effect, const void *bytes, size_t count) {
  softclip *clip = effect;
  uint64_t counts[2];
  if (count != sizeof counts) return 1;
  memcpy(counts, bytes, sizeof counts);
  clip->samples = counts[0];
  clip->bent = counts[1];
  return 0;
}

static const char *figures(void *effect) {
  softclip *clip = effect;
  snprintf(clip->figures, sizeof clip->figures, "{\"samples\":%llu,\"bent\":%llu}",
           (unsigned long long)clip->samples, (unsigned long long)clip->bent);
  return clip->figures;
}

static const spool_plugin plugin = {
    .abi = SPOOL_PLUGIN_ABI,
    .size = sizeof(spool_plugin),
    .create = create,
    .process = process,
    .destroy = free,
    .state_size = state_size,
    .save = save,
    .restore = restore,
    .figures = figures,
};

SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { return &plugin; }
