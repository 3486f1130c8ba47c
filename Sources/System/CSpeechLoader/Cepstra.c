#include "Libraries.h"

struct spool_cepstra {
  fe_t *front;
  int count;
};

spool_cepstra *spool_cepstra_make(const char *parameters) {
  // The library keeps pointers to the arguments.
  static char *arguments[] = {"spool", "-remove_silence", "no", "-dither", "no"};
  err_set_logfp(NULL);
  cmd_ln_t *configuration = cmd_ln_parse_r(NULL, ps_args(), 5, arguments, TRUE);
  if (!configuration) return NULL;
  cmd_ln_t *whole = cmd_ln_parse_file_r(configuration, ps_args(), parameters, FALSE);
  fe_t *front = whole ? fe_init_auto_r(whole) : NULL;
  cmd_ln_free_r(whole ? whole : configuration);
  spool_cepstra *cepstra = front ? calloc(1, sizeof *cepstra) : NULL;
  if (!cepstra) {
    if (front) fe_free(front);
    return NULL;
  }
  cepstra->front = front;
  cepstra->count = fe_get_output_size(front);
  return cepstra;
}

void spool_cepstra_free(spool_cepstra *cepstra) {
  fe_free(cepstra->front);
  free(cepstra);
}

int spool_cepstra_count(const spool_cepstra *cepstra) { return cepstra->count; }

int spool_cepstra_of(spool_cepstra *cepstra, const int16_t *samples, size_t count, float *values,
                     int capacity) {
  err_set_logfp(NULL);
  // Else the noise of what was heard before would be taken from this sound.
  fe_start_stream(cepstra->front);
  if (fe_start_utt(cepstra->front) < 0) return -1;
  mfcc_t **frames = NULL;
  int32 frame_count = 0;
  if (fe_process_utt(cepstra->front, samples, count, &frames, &frame_count) < 0) return -1;
  if (frame_count > capacity) frame_count = capacity;
  if (frame_count > 0)
    memcpy(values, frames[0], sizeof(float) * (size_t)cepstra->count * (size_t)frame_count);
  fe_free_2d(frames);
  mfcc_t last[64];
  int32 last_count = 0;
  fe_end_utt(cepstra->front, last, &last_count);
  return frame_count;
}
