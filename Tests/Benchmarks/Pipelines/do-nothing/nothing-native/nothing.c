/* The least that a native plugin can be. */
#include "spool_plugin.h"

#include <stdlib.h>

static void *create(const spool_setting *setting) {
  (void)setting;
  return malloc(1);
}

static int process(void *effect, float *samples, uint32_t frames) {
  (void)effect, (void)samples, (void)frames;
  return 0;
}

static const spool_plugin plugin = {
    .abi = SPOOL_PLUGIN_ABI,
    .size = sizeof(spool_plugin),
    .create = create,
    .process = process,
    .destroy = free,
};

SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { return &plugin; }
