#include "Lilv.h"

#include <dlfcn.h>
#include <lv2/atom/atom.h>
#include <lv2/buf-size/buf-size.h>
#include <lv2/log/log.h>
#include <lv2/options/options.h>
#include <lv2/parameters/parameters.h>
#include <lv2/state/state.h>
#include <lv2/worker/worker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: Names

// The numbers of URIs, the same for all instances of the process. One thread at a time.
static char **uris;
static uint32_t uri_count;

static LV2_URID map_uri(LV2_URID_Map_Handle handle, const char *uri) {
  (void)handle;
  for (uint32_t index = 0; index < uri_count; index++)
    if (!strcmp(uris[index], uri)) return index + 1;
  char **more = realloc(uris, (uri_count + 1) * sizeof *uris);
  char *copy = strdup(uri);
  if (more) uris = more;
  if (!more || !copy) {
    free(copy);
    return 0;
  }
  uris[uri_count++] = copy;
  return uri_count;
}

static const char *unmap_uri(LV2_URID_Unmap_Handle handle, LV2_URID number) {
  (void)handle;
  return number > 0 && number <= uri_count ? uris[number - 1] : NULL;
}

static LV2_URID_Map urid_map = {NULL, map_uri};
static LV2_URID_Unmap urid_unmap = {NULL, unmap_uri};

static LV2_URID number_of(const char *uri) { return map_uri(NULL, uri); }

// MARK: Messages

// What a plugin logs goes to standard error, but for traces and notes.
static int log_list(LV2_Log_Handle handle, LV2_URID type, const char *format, va_list arguments) {
  (void)handle;
  if (type != number_of(LV2_LOG__Error) && type != number_of(LV2_LOG__Warning)) return 0;
  return vfprintf(stderr, format, arguments);
}

static int log_text(LV2_Log_Handle handle, LV2_URID type, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = log_list(handle, type, format, arguments);
  va_end(arguments);
  return count;
}

static LV2_Log_Log log_feature = {NULL, log_text, log_list};

// MARK: The instance

struct work {
  struct work *next;
  uint32_t size;
  unsigned char data[];
};

// Work or answers, first in, first out.
struct queue {
  struct work *first;
  struct work **last;
};

enum { feature_limit = 12, option_limit = 7 };

struct spool_lv2 {
  LilvInstance *instance;
  const LV2_Worker_Interface *worker;
  // Work that came before there was an instance to do it, and answers to work.
  struct queue waiting, answers;
  LV2_Worker_Schedule schedule;
  float rate;
  int32_t block, sequence_size;
  LV2_Options_Option options[option_limit];
  LV2_Feature features[feature_limit];
  const LV2_Feature *feature_list[feature_limit + 1];
};

static void add(struct queue *queue, uint32_t size, const void *data) {
  struct work *work = malloc(sizeof *work + size);
  if (!work) return;
  work->next = NULL;
  work->size = size;
  if (size > 0) memcpy(work->data, data, size);
  if (!queue->last) queue->last = &queue->first;
  *queue->last = work;
  queue->last = &work->next;
}

static struct work *take(struct queue *queue) {
  struct work *work = queue->first;
  if (work) queue->first = work->next;
  if (!queue->first) queue->last = &queue->first;
  return work;
}

static LV2_Worker_Status respond(LV2_Worker_Respond_Handle handle, uint32_t size,
                                 const void *data) {
  add(&((spool_lv2 *)handle)->answers, size, data);
  return LV2_WORKER_SUCCESS;
}

static void do_work(spool_lv2 *self, uint32_t size, const void *data) {
  if (self->worker && self->worker->work)
    self->worker->work(self->instance->lv2_handle, respond, self, size, data);
}

// Nothing waits for sound here, so that work is done when it is asked for: the same after every run.
static LV2_Worker_Status schedule(LV2_Worker_Schedule_Handle handle, uint32_t size,
                                  const void *data) {
  spool_lv2 *self = handle;
  if (self->instance) {
    do_work(self, size, data);
  } else {
    add(&self->waiting, size, data);
  }
  return LV2_WORKER_SUCCESS;
}

static void answer(spool_lv2 *self) {
  struct work *work;
  while ((work = take(&self->answers))) {
    if (self->worker->work_response)
      self->worker->work_response(self->instance->lv2_handle, work->size, work->data);
    free(work);
  }
}

static const char *const known_features[] = {
    LV2_URID__map,
    LV2_URID__unmap,
    LV2_LOG__log,
    LV2_WORKER__schedule,
    LV2_OPTIONS__options,
    LV2_BUF_SIZE__boundedBlockLength,
    LV2_BUF_SIZE__fixedBlockLength,
    LV2_BUF_SIZE__powerOf2BlockLength,
    LV2_STATE__loadDefaultState,
    LV2_STATE__threadSafeRestore,
    LV2_CORE__inPlaceBroken,
    LV2_CORE__hardRTCapable,
};

bool spool_lv2_has_feature(const char *uri) {
  for (size_t index = 0; index < sizeof known_features / sizeof *known_features; index++)
    if (!strcmp(known_features[index], uri)) return true;
  return false;
}

static void offer(spool_lv2 *self) {
  LV2_URID integer = number_of(LV2_ATOM__Int);
  int count = 0;
#define OPTION(name, type, value) \
  self->options[count++] = (LV2_Options_Option) { \
    LV2_OPTIONS_INSTANCE, 0, number_of(name), sizeof(value), type, &(value) \
  }
  OPTION(LV2_PARAMETERS__sampleRate, number_of(LV2_ATOM__Float), self->rate);
  OPTION(LV2_BUF_SIZE__minBlockLength, integer, self->block);
  OPTION(LV2_BUF_SIZE__maxBlockLength, integer, self->block);
  OPTION(LV2_BUF_SIZE__nominalBlockLength, integer, self->block);
  OPTION(LV2_BUF_SIZE__sequenceSize, integer, self->sequence_size);
#undef OPTION
  const LV2_Feature features[] = {
      {LV2_URID__map, &urid_map},
      {LV2_URID__unmap, &urid_unmap},
      {LV2_LOG__log, &log_feature},
      {LV2_WORKER__schedule, &self->schedule},
      {LV2_OPTIONS__options, self->options},
      {LV2_BUF_SIZE__boundedBlockLength, NULL},
      {LV2_BUF_SIZE__fixedBlockLength, NULL},
      {LV2_BUF_SIZE__powerOf2BlockLength, NULL},
      {LV2_STATE__loadDefaultState, NULL},
  };
  memcpy(self->features, features, sizeof features);
  for (size_t index = 0; index < sizeof features / sizeof *features; index++)
    self->feature_list[index] = &self->features[index];
}

spool_lv2 *spool_lv2_make(const LilvPlugin *plugin, double rate, uint32_t block) {
  spool_lv2 *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->rate = (float)rate;
  self->block = (int32_t)block;
  self->sequence_size = 1 << 15;
  self->schedule = (LV2_Worker_Schedule){self, schedule};
  offer(self);
  LilvInstance *instance = lilv_plugin_instantiate(plugin, rate, self->feature_list);
  // Some plugins use FFTW without saying so to the linker: in most hosts another has loaded it.
  if (!instance && dlopen("libfftw3f.so.3", RTLD_NOW | RTLD_GLOBAL))
    instance = lilv_plugin_instantiate(plugin, rate, self->feature_list);
  if (!instance) {
    spool_lv2_free(self);
    return NULL;
  }
  const LV2_Descriptor *descriptor = instance->lv2_descriptor;
  if (descriptor->extension_data) self->worker = descriptor->extension_data(LV2_WORKER__interface);
  self->instance = instance;
  struct work *work;
  while ((work = take(&self->waiting))) {
    do_work(self, work->size, work->data);
    free(work);
  }
  return self;
}

void spool_lv2_free(spool_lv2 *self) {
  if (self->instance) {
    const LV2_Descriptor *descriptor = self->instance->lv2_descriptor;
    if (descriptor->deactivate) descriptor->deactivate(self->instance->lv2_handle);
    lilv_instance_free(self->instance);
  }
  struct work *work;
  while ((work = take(&self->waiting))) free(work);
  while ((work = take(&self->answers))) free(work);
  free(self);
}

void spool_lv2_connect(spool_lv2 *self, uint32_t port, void *memory) {
  self->instance->lv2_descriptor->connect_port(self->instance->lv2_handle, port, memory);
}

struct setter {
  void (*set)(const char *symbol, float value, void *context);
  void *context;
};

static void set_port(const char *symbol, void *context, const void *value, uint32_t size,
                     uint32_t type) {
  const struct setter *setter = context;
  float number;
  if (type == number_of(LV2_ATOM__Float) && size == sizeof(float)) {
    number = *(const float *)value;
  } else if (type == number_of(LV2_ATOM__Double) && size == sizeof(double)) {
    number = (float)*(const double *)value;
  } else if (type == number_of(LV2_ATOM__Long) && size == sizeof(int64_t)) {
    number = (float)*(const int64_t *)value;
  } else if (size == sizeof(int32_t) &&
             (type == number_of(LV2_ATOM__Int) || type == number_of(LV2_ATOM__Bool))) {
    number = (float)*(const int32_t *)value;
  } else {
    return;
  }
  setter->set(symbol, number, setter->context);
}

bool spool_lv2_restore(spool_lv2 *self, LilvWorld *world, const LilvNode *node,
                       void (*set)(const char *symbol, float value, void *context),
                       void *context) {
  LilvState *state = lilv_state_new_from_world(world, &urid_map, node);
  if (!state) return false;
  struct setter setter = {set, context};
  lilv_state_restore(state, self->instance, set_port, &setter, 0, self->feature_list);
  lilv_state_free(state);
  return true;
}

void spool_lv2_activate(spool_lv2 *self) {
  const LV2_Descriptor *descriptor = self->instance->lv2_descriptor;
  if (descriptor->activate) descriptor->activate(self->instance->lv2_handle);
}

void spool_lv2_run(spool_lv2 *self, uint32_t frames) {
  self->instance->lv2_descriptor->run(self->instance->lv2_handle, frames);
  if (!self->worker) return;
  answer(self);
  if (self->worker->end_run) self->worker->end_run(self->instance->lv2_handle);
}

void spool_lv2_clear_sequence(void *memory, uint32_t length, bool is_input) {
  LV2_Atom_Sequence *sequence = memory;
  sequence->atom.size = is_input ? sizeof(LV2_Atom_Sequence_Body) : length - sizeof(LV2_Atom);
  sequence->atom.type = number_of(is_input ? LV2_ATOM__Sequence : LV2_ATOM__Chunk);
  sequence->body.unit = 0;
  sequence->body.pad = 0;
}

uint32_t spool_lv2_event_frames(const void *memory, uint32_t length, int64_t *frames, uint32_t most) {
  const LV2_Atom_Sequence *sequence = memory;
  if (!memory || sequence->atom.type != number_of(LV2_ATOM__Sequence)) return 0;
  if (sequence->atom.size < sizeof sequence->body ||
      sequence->atom.size > length - sizeof(LV2_Atom))
    return 0;
  const uint8_t *place = (const uint8_t *)(sequence + 1);
  const uint8_t *end = (const uint8_t *)&sequence->body + sequence->atom.size;
  uint32_t count = 0;
  while (count < most && (size_t)(end - place) >= sizeof(LV2_Atom_Event)) {
    const LV2_Atom_Event *event = (const LV2_Atom_Event *)place;
    const size_t size = (sizeof *event + (size_t)event->body.size + 7) & ~(size_t)7;
    if (size > (size_t)(end - place) + 7) break;
    frames[count++] = event->time.frames;
    if (size >= (size_t)(end - place)) break;
    place += size;
  }
  return count;
}
