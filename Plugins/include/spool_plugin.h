/* A native plugin for Spool: a shared library with one function, spool_plugin_entry.
 *
 * It is loaded into a process of its own, behind the same limits as any other plugin, so that a crash
 * in it is a failed stage and nothing more. Its folder has a plugin.yaml with
 *
 *     library: ./softclip.so
 *
 * in place of `run`. The manifest says which stage kinds there are and which parameters they have, and
 * Spool checks those before anything is loaded.
 *
 * The plugin answers to one thread at a time. An effect may keep what it likes between calls, and what it
 * gives may depend only on the sound and the parameters, never on how the sound is cut into blocks.
 *
 * This file may be copied and used by anyone, for anything.
 */
#ifndef SPOOL_PLUGIN_H
#define SPOOL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of what this file describes. */
#define SPOOL_PLUGIN_ABI 1

/** What the user set, or the manifest's default. A parameter without a value is not in the list. */
typedef struct spool_parameter {
  /** Its name in the manifest. */
  const char *name;
  /** A number in the unit that the manifest names; 1 or 0 for a flag. */
  double number;
  /** Text, a choice or a path; NULL for numbers and flags. */
  const char *text;
} spool_parameter;

/** What an effect is made for. It is there during `create` only: copy what is needed later. */
typedef struct spool_setting {
  /** The stage kind that is wanted. */
  const char *kind;
  /** Frames a second. */
  double rate;
  /** Channels of the sound, 1 or more. */
  uint32_t channels;
  /** The most frames that a block has. */
  uint32_t block_frames;
  /** The parameters. */
  const spool_parameter *parameters;
  size_t parameter_count;
  /** A folder for this process alone, which goes with it. */
  const char *folder;
  /** Where `create` may write why it cannot: text that ends with a zero, in so many bytes. */
  char *reason;
  size_t reason_size;
} spool_setting;

/** What a plugin can do. Functions that may be NULL are marked so. */
typedef struct spool_plugin {
  /** SPOOL_PLUGIN_ABI. */
  uint32_t abi;
  /** sizeof(spool_plugin): later versions of this file may have more members at the end. */
  uint32_t size;
  /** Makes an effect; NULL where that cannot be, with the reason in `setting`. */
  void *(*create)(const spool_setting *setting);
  /** Changes interleaved samples in place, `frames` of every channel. 0, or anything else for a failure,
   *  whose reason `failure` tells. */
  int (*process)(void *effect, float *samples, uint32_t frames);
  /** Ends it. */
  void (*destroy)(void *effect);
  /** Frames by which the sound comes out late: Spool cuts them off at the beginning, and sends as much
   *  silence at the end. May be NULL: none. */
  uint32_t (*latency)(const void *effect);
  /** How many bytes `save` needs now. May be NULL, with `save` and `restore`: then the stage begins anew
   *  after an interruption. */
  size_t (*state_size)(const void *effect);
  /** Writes all that the effect remembers of the sound so far: `state_size` bytes. */
  void (*save)(const void *effect, void *bytes);
  /** Takes over what an effect with the same parameters saved. Comes before the first block. 0, or
   *  anything else where these bytes are none of its own. */
  int (*restore)(void *effect, const void *bytes, size_t count);
  /** Figures for people: a JSON text that ends with a zero, and stays valid until the next call. Asked at
   *  the end. May be NULL, or give NULL. */
  const char *(*figures)(void *effect);
  /** Why the last call failed; as above. May be NULL, or give NULL. */
  const char *(*failure)(const void *effect);
} spool_plugin;

/** The function that a plugin's library has. The result is never freed. */
typedef const spool_plugin *(*spool_plugin_entry_function)(void);

/** Stands before the definition of spool_plugin_entry:
 *  SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { return &plugin; } */
#define SPOOL_EXPORT __attribute__((visibility("default")))

/** A number or flag of this name; `otherwise` where there is none. */
static inline double spool_number(const spool_setting *setting, const char *name, double otherwise) {
  for (size_t n = 0; n < setting->parameter_count; n++)
    if (strcmp(setting->parameters[n].name, name) == 0) return setting->parameters[n].number;
  return otherwise;
}

/** A text, choice or path of this name; `otherwise` where there is none. */
static inline const char *spool_text(const spool_setting *setting, const char *name,
                                     const char *otherwise) {
  for (size_t n = 0; n < setting->parameter_count; n++)
    if (strcmp(setting->parameters[n].name, name) == 0 && setting->parameters[n].text)
      return setting->parameters[n].text;
  return otherwise;
}

#ifdef __cplusplus
}
#endif

#endif
