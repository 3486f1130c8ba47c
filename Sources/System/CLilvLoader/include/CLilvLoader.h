// liblilv, opened when it is first needed, and one running LV2 plugin.
//
// Linking it would make every start of the program load seven shared libraries. It is called by its own
// names, which this target declares, since its header lies where not every compiler looks for it, and
// forwards. An instance, whose features are a web of C structures that point at each other, is whole in
// here.
#pragma once
#include <ladspa.h>
#include <lv2/core/lv2.h>
#include <lv2/urid/urid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LilvWorldImpl LilvWorld;
typedef struct LilvNodeImpl LilvNode;
typedef struct LilvPluginImpl LilvPlugin;
typedef struct LilvPluginClassImpl LilvPluginClass;
typedef struct LilvPortImpl LilvPort;
typedef struct LilvScalePointImpl LilvScalePoint;
typedef struct LilvStateImpl LilvState;
typedef struct LilvInstanceImpl LilvInstance;
typedef void LilvIter;
typedef void LilvPlugins;
typedef void LilvNodes;
typedef void LilvScalePoints;
typedef void (*LilvSetPortValueFunc)(const char *symbol, void *context, const void *value,
                                     uint32_t size, uint32_t type);

// Hidden, so that liblilv itself never finds the forwarding functions in place of its own.
#pragma GCC visibility push(hidden)
#define FORWARD(result, name, parameters, arguments) result name parameters;
#define FORWARD_VOID(name, parameters, arguments) void name parameters;
#include "LilvFunctions.h"
#undef FORWARD
#undef FORWARD_VOID

// Opens liblilv and finds its functions; gives 0 when all are there. Otherwise `error` holds the
// reason, cut to `length` bytes. Thread-safe. A function that is called while this fails ends the process
// with that reason.
int spool_lilv_load(char *error, size_t length);

// Sets subnormal numbers to zero in this thread from here on: a plugin's feedback would go through
// them for seconds, and slow to a hundredth.
void spool_flush_subnormals(void);

// A running plugin. One thread at a time.
typedef struct spool_lv2 spool_lv2;

// Whether Spool has what a plugin calls a required feature.
bool spool_lv2_has_feature(const char *uri);

// Makes an instance that runs blocks of `block` frames, a power of two; NULL where the plugin refuses.
spool_lv2 *spool_lv2_make(const LilvPlugin *plugin, double rate, uint32_t block);

void spool_lv2_free(spool_lv2 *instance);

// Connects a port with memory that lives as long as the instance.
void spool_lv2_connect(spool_lv2 *instance, uint32_t port, void *memory);

// Takes over a state, as the plugin itself or one of its presets describes it: each control's value
// goes to `set`, with `context`, and everything else to the plugin. Comes before `spool_lv2_activate`.
// Gives false where the world holds no state of that name.
bool spool_lv2_restore(spool_lv2 *instance, LilvWorld *world, const LilvNode *state,
                       void (*set)(const char *symbol, float value, void *context), void *context);

void spool_lv2_activate(spool_lv2 *instance);

// Runs one block. What the plugin leaves to a worker is done before this returns.
void spool_lv2_run(spool_lv2 *instance, uint32_t frames);

// Prepares the memory of an atom port for the next block: makes `memory` an empty
// sequence to read (`is_input`), or room for a sequence to be written.
void spool_lv2_clear_sequence(void *memory, uint32_t length, bool is_input);

// The places of the events that a plugin wrote into `memory` of `length` bytes, at most `most` of them,
// in frames of the block. Gives their number: 0 where it wrote none, or nothing that holds together.
uint32_t spool_lv2_event_frames(const void *memory, uint32_t length, int64_t *frames, uint32_t most);

// Opens a LADSPA library and finds its list of plugins; NULL and the reason where that fails. It is
// never closed.
LADSPA_Descriptor_Function spool_ladspa_open(const char *path, char *error, size_t length);
#pragma GCC visibility pop
