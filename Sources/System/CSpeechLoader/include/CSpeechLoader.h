// The speech libraries, opened when they are first needed.
//
// Linking them would make every start of the program load some 40 shared libraries. libespeak-ng is
// called by its own names, which this target defines and forwards. libpocketsphinx is called by the
// few functions below, because its headers lie where not every compiler looks for them.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Opens libpocketsphinx and finds its functions; gives 0 when all are there. Otherwise `error`
// holds the reason, cut to `length` bytes. Thread-safe; costs next to nothing after the first call.
// A function that is called while this fails ends the process with that reason.
int spool_sphinx_load(char *error, size_t length);

// Writes the path of the file from which libpocketsphinx was loaded, symbolic links resolved; gives
// 0, or -1 where it cannot be loaded or the path is longer than `length` - 1 bytes.
int spool_sphinx_path(char *path, size_t length);

// Opens libespeak-ng as spool_sphinx_load opens libpocketsphinx.
int spool_espeak_load(char *error, size_t length);

// Ends libespeak-ng, which must have been made ready, and opens it anew: what it says depends a little
// on all that it said before, and this makes it forget. It must be made ready again. No other thread
// may call it meanwhile; gives 0, or -1 and the reason.
int spool_espeak_reopen(char *error, size_t length);

// Hears words. One thread at a time.
typedef struct spool_sphinx spool_sphinx;

// Makes one from the arguments of libpocketsphinx's programs, the first of which is ignored; NULL
// where the model cannot be loaded. The arguments must live as long as it does.
spool_sphinx *spool_sphinx_make(int count, char **arguments);

void spool_sphinx_free(spool_sphinx *sphinx);

// A word that leads from one state of a grammar to another.
typedef struct {
  int from, to;
  const char *word;
} spool_sphinx_arc;

// Lets words lead from state 0 to the last one, and silence and noise stand between any two; gives
// 0, or -1 where a word is not in the dictionary.
int spool_sphinx_expect_words(spool_sphinx *sphinx, int state_count, int last_state,
                              const spool_sphinx_arc *arcs, int arc_count);

// Lets words follow each other as a language model in a file says; gives 0, or -1 where it cannot
// be loaded.
int spool_sphinx_expect_speech(spool_sphinx *sphinx, const char *path);

// A word or a filler that was heard: its frames, a hundred a second, the natural logarithm of its
// acoustic likelihood, and its posterior, 0 to 1: always 1 where no lattice is searched.
typedef struct {
  const char *word;
  int first, last;
  double score, posterior;
} spool_sphinx_segment;

// Listens to sound of 16 kHz; gives 0 and the logarithm of the likelihood of all of it, or -1 where
// nothing was heard.
int spool_sphinx_hear(spool_sphinx *sphinx, const int16_t *samples, size_t count, double *score);

// Goes through what was heard: gives 1 and the next segment, or 0 after the last one, which begins
// anew. The word is valid until the next time that something is heard.
int spool_sphinx_next(spool_sphinx *sphinx, spool_sphinx_segment *segment);

// What libsphinxbase makes of sound before a model is asked: the cepstrum of each hundredth of a
// second. One thread at a time.
typedef struct spool_cepstra spool_cepstra;

// Analyses sound as a model's file `feat.params` says; NULL where that cannot be done. No frame is
// left out.
spool_cepstra *spool_cepstra_make(const char *parameters);

void spool_cepstra_free(spool_cepstra *cepstra);

// How many coefficients a cepstrum has.
int spool_cepstra_count(const spool_cepstra *cepstra);

// Writes the cepstra of sound of 16 kHz, frame after frame, for as many frames as there is room
// for; gives their number, or -1 on failure.
int spool_cepstra_of(spool_cepstra *cepstra, const int16_t *samples, size_t count, float *values,
                     int capacity);
