// Opens the FFmpeg libraries when they are first needed.
//
// Linking them would make every start of the program load some 140 shared libraries. This target
// defines each libav function that Spool calls, with libav's own prototype; the definition forwards
// to the real library, which `spool_libav_load` opens.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Opens the libraries and finds every function; gives 0 when all are there. Otherwise `error` holds
// the reason, cut to `length` bytes. Thread-safe; costs next to nothing after the first call.
// A libav function called while this fails ends the process with that reason.
int spool_libav_load(char *error, size_t length);

// Gives back the pages of the libraries' code and tables that nobody may need for a while; those
// that are needed come back from the page cache by themselves.
void spool_libav_give_pages_back(void);

// What a function of a library that libavcodec is linked with, such as `get_lame_version`, gives as
// its version; null if no such library has it. The libraries must be loaded.
const char *spool_libav_encoder_version(const char *function);

// libav's first complaint on the calling thread since `spool_libav_forget_message`, without a line
// end; empty when there was none. The first one names the cause, the later ones what followed from
// it. Valid until libav is called again on this thread. Nothing that libav says is ever written to
// standard error.
const char *spool_libav_message(void);

// Forgets the calling thread's complaint.
void spool_libav_forget_message(void);

struct SwrContext;

// swr_alloc_set_opts2, whose prototype is not the same in every FFmpeg version. The layouts are
// `AVChannelLayout`s. Null when they cannot be converted into each other.
struct SwrContext *spool_resampler_make(const void *out_layout, int out_format, int out_rate,
                                        const void *in_layout, int in_format, int in_rate);

// swr_convert, likewise.
int spool_resampler_convert(struct SwrContext *context, uint8_t **out, int out_count,
                            const uint8_t **in, int in_count);

struct AVIOContext;

// Lets libav read `length` bytes of an open file, from `start` on, and nothing else. The file stays
// its owner's, and its position as it is. Null without memory.
struct AVIOContext *spool_reader_open(int file, int64_t start, int64_t length);

// Frees such a reader.
void spool_reader_close(struct AVIOContext *io);

// Bytes of an `AVMD5`: its whole state, without pointers, so it can be copied and kept.
size_t spool_md5_size(void);
