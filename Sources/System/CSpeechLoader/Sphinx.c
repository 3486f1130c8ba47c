#include "Libraries.h"

struct spool_sphinx {
  ps_decoder_t *decoder;
  ps_seg_t *segment;
  int is_walking;
  double step;
};

spool_sphinx *spool_sphinx_make(int count, char **arguments) {
  // It is per thread, and must be silent before the configuration is read.
  err_set_logfp(NULL);
  cmd_ln_t *configuration = cmd_ln_parse_r(NULL, ps_args(), count, arguments, TRUE);
  if (!configuration) return NULL;
  ps_decoder_t *decoder = ps_init(configuration);
  cmd_ln_free_r(configuration);
  spool_sphinx *sphinx = decoder ? calloc(1, sizeof *sphinx) : NULL;
  if (!sphinx) {
    if (decoder) ps_free(decoder);
    return NULL;
  }
  sphinx->decoder = decoder;
  // A mean that is carried on from what was heard before would make pieces depend on their order.
  // The model's own settings go before arguments, so it can be told only here.
  feat_t *features = ps_get_feat(decoder);
  if (features->cmn == CMN_LIVE) features->cmn = CMN_BATCH;
  // Scores are kept in steps of 2^10 of the library's logarithm.
  sphinx->step = logmath_log_to_ln(ps_get_logmath(decoder), 1 << 10);
  return sphinx;
}

void spool_sphinx_free(spool_sphinx *sphinx) {
  if (sphinx->segment) ps_seg_free(sphinx->segment);
  ps_free(sphinx->decoder);
  free(sphinx);
}

int spool_sphinx_expect_words(spool_sphinx *sphinx, int state_count, int last_state,
                              const spool_sphinx_arc *arcs, int arc_count) {
  err_set_logfp(NULL);
  fsg_model_t *grammar = fsg_model_init("words", ps_get_logmath(sphinx->decoder), 1, state_count);
  if (!grammar) return -1;
  grammar->start_state = 0;
  grammar->final_state = last_state;
  for (int index = 0; index < arc_count; index++) {
    int word = fsg_model_word_add(grammar, arcs[index].word);
    fsg_model_trans_add(grammar, arcs[index].from, arcs[index].to, 0, word);
  }
  int status = ps_set_fsg(sphinx->decoder, "words", grammar);
  fsg_model_free(grammar);
  return status == 0 ? ps_set_search(sphinx->decoder, "words") : -1;
}

int spool_sphinx_expect_speech(spool_sphinx *sphinx, const char *path) {
  err_set_logfp(NULL);
  int status = ps_set_lm_file(sphinx->decoder, "speech", path);
  return status == 0 ? ps_set_search(sphinx->decoder, "speech") : -1;
}

int spool_sphinx_hear(spool_sphinx *sphinx, const int16_t *samples, size_t count, double *score) {
  err_set_logfp(NULL);
  if (sphinx->segment) ps_seg_free(sphinx->segment);
  sphinx->segment = NULL;
  sphinx->is_walking = 0;
  // Else the noise of what was heard before would be taken from this sound.
  if (ps_start_stream(sphinx->decoder) != 0) return -1;
  if (ps_start_utt(sphinx->decoder) != 0) return -1;
  ps_process_raw(sphinx->decoder, samples, count, FALSE, TRUE);
  int32 total = 0;
  if (ps_end_utt(sphinx->decoder) != 0 || !ps_get_hyp(sphinx->decoder, &total)) return -1;
  *score = total * sphinx->step;
  return 0;
}

int spool_sphinx_next(spool_sphinx *sphinx, spool_sphinx_segment *segment) {
  sphinx->segment =
      sphinx->is_walking ? ps_seg_next(sphinx->segment) : ps_seg_iter(sphinx->decoder);
  sphinx->is_walking = sphinx->segment != NULL;
  if (!sphinx->segment) return 0;
  int32 acoustic = 0;
  segment->word = ps_seg_word(sphinx->segment);
  ps_seg_frames(sphinx->segment, &segment->first, &segment->last);
  int32 posterior = ps_seg_prob(sphinx->segment, &acoustic, NULL, NULL);
  segment->score = acoustic * sphinx->step;
  segment->posterior =
      exp(logmath_log_to_ln(ps_get_logmath(sphinx->decoder), posterior));
  return 1;
}
