// Every function of the speech libraries that Spool calls: FORWARD(library, result, name,
// (parameters), (arguments)), FORWARD_VOID for those without a result. Included several times.

FORWARD(pocketsphinx, arg_t const *, ps_args, (void), ())
FORWARD(pocketsphinx, ps_decoder_t *, ps_init, (cmd_ln_t *c), (c))
FORWARD(pocketsphinx, int, ps_free, (ps_decoder_t *d), (d))
FORWARD(pocketsphinx, logmath_t *, ps_get_logmath, (ps_decoder_t *d), (d))
FORWARD(pocketsphinx, int, ps_set_fsg, (ps_decoder_t *d, const char *name, fsg_model_t *g), (d, name, g))
FORWARD(pocketsphinx, int, ps_set_lm_file, (ps_decoder_t *d, const char *name, const char *path), (d, name, path))
FORWARD(pocketsphinx, int, ps_set_search, (ps_decoder_t *d, const char *name), (d, name))
FORWARD(pocketsphinx, int, ps_start_utt, (ps_decoder_t *d), (d))
FORWARD(pocketsphinx, int, ps_process_raw, (ps_decoder_t *d, int16 const *data, size_t count, int no_search, int whole), (d, data, count, no_search, whole))
FORWARD(pocketsphinx, int, ps_end_utt, (ps_decoder_t *d), (d))
FORWARD(pocketsphinx, char const *, ps_get_hyp, (ps_decoder_t *d, int32 *score), (d, score))
FORWARD(pocketsphinx, ps_seg_t *, ps_seg_iter, (ps_decoder_t *d), (d))
FORWARD_VOID(pocketsphinx, ps_seg_free, (ps_seg_t *s), (s))
FORWARD(pocketsphinx, ps_seg_t *, ps_seg_next, (ps_seg_t *s), (s))
FORWARD(pocketsphinx, char const *, ps_seg_word, (ps_seg_t *s), (s))
FORWARD_VOID(pocketsphinx, ps_seg_frames, (ps_seg_t *s, int *first, int *last), (s, first, last))
FORWARD(pocketsphinx, int32, ps_seg_prob, (ps_seg_t *s, int32 *acoustic, int32 *language, int32 *back), (s, acoustic, language, back))

FORWARD(sphinxbase, cmd_ln_t *, cmd_ln_parse_r, (cmd_ln_t *c, arg_t const *defn, int32 argc, char *argv[], int32 strict), (c, defn, argc, argv, strict))
FORWARD(sphinxbase, int, cmd_ln_free_r, (cmd_ln_t *c), (c))
FORWARD_VOID(sphinxbase, err_set_logfp, (FILE *f), (f))
FORWARD(sphinxbase, fsg_model_t *, fsg_model_init, (char const *name, logmath_t *l, float32 lw, int32 n), (name, l, lw, n))
FORWARD(sphinxbase, int, fsg_model_free, (fsg_model_t *g), (g))
FORWARD(sphinxbase, int, fsg_model_word_add, (fsg_model_t *g, char const *word), (g, word))
FORWARD_VOID(sphinxbase, fsg_model_trans_add, (fsg_model_t *g, int32 from, int32 to, int32 logp, int32 wid), (g, from, to, logp, wid))
FORWARD(sphinxbase, float64, logmath_log_to_ln, (logmath_t *l, int p), (l, p))

FORWARD(espeak, int, espeak_Initialize, (espeak_AUDIO_OUTPUT o, int buffer, const char *path, int options), (o, buffer, path, options))
FORWARD(espeak, espeak_ERROR, espeak_SetVoiceByName, (const char *name), (name))
FORWARD(espeak, const char *, espeak_TextToPhonemes, (const void **text, int mode, int phonemes), (text, mode, phonemes))

// Speech whose words' times are known, for the benchmarks.
FORWARD_VOID(espeak, espeak_SetSynthCallback, (t_espeak_callback *callback), (callback))
FORWARD(espeak, espeak_ERROR, espeak_SetParameter, (espeak_PARAMETER p, int value, int relative), (p, value, relative))
FORWARD(espeak, espeak_ERROR, espeak_Synth, (const void *text, size_t size, unsigned int position, espeak_POSITION_TYPE type, unsigned int end, unsigned int flags, unsigned int *identifier, void *data), (text, size, position, type, end, flags, identifier, data))
FORWARD(espeak, espeak_ERROR, espeak_Synchronize, (void), ())
