// libasound, opened when it is first needed.
//
// Linking it would make every start of the program load it for what one command does. It is called by its
// own names, which this target declares and forwards.
#pragma once
#include <stddef.h>

typedef struct _snd_pcm snd_pcm_t;
typedef struct _snd_pcm_hw_params snd_pcm_hw_params_t;

// Hidden, so that libasound itself never finds the forwarding functions in place of its own.
#pragma GCC visibility push(hidden)

// Opens libasound and finds its functions; gives 0 when all are there. Otherwise `error` holds the
// reason, cut to `length` bytes. Thread-safe. A function that is called while this fails ends the process
// with that reason.
int spool_asound_load(char *error, size_t length);

// libasound's first complaint on the calling thread since `spool_asound_forget_message`, in one line;
// empty when there was none. Nothing that libasound says is written to standard error.
const char *spool_asound_message(void);

// Forgets the calling thread's complaint.
void spool_asound_forget_message(void);

// Opens a device for playback: blocking, and with the channels that the device itself has where it leaves
// them open.
int spool_asound_open(snd_pcm_t **pcm, const char *name);

// The number of channels nearest to `wanted` that the device takes; a negative error where it takes none.
int spool_asound_channels(snd_pcm_t *pcm, unsigned wanted);

// Sets a device up for interleaved native 32-bit floats; libasound converts the rate where it has to.
// `latency` is the length of its buffer, in microseconds.
int spool_asound_set(snd_pcm_t *pcm, unsigned channels, unsigned rate, unsigned latency);

int snd_pcm_close(snd_pcm_t *pcm);
int snd_pcm_prepare(snd_pcm_t *pcm);
int snd_pcm_drop(snd_pcm_t *pcm);
int snd_pcm_drain(snd_pcm_t *pcm);
int snd_pcm_recover(snd_pcm_t *pcm, int error, int silent);
int snd_pcm_delay(snd_pcm_t *pcm, long *frames);
long snd_pcm_writei(snd_pcm_t *pcm, const void *samples, unsigned long frames);
const char *snd_strerror(int error);
#pragma GCC visibility pop
