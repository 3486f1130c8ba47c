#pragma once
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/base64.h>
#include <libavutil/channel_layout.h>
#include <libavutil/crc.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/tx.h>
#include <libswresample/swresample.h>

// What Swift cannot import: macros, and fields whose shape changed between FFmpeg 5 and 7.

static inline int spool_averror_eof(void) { return AVERROR_EOF; }
static inline int spool_averror_invalid_data(void) { return AVERROR_INVALIDDATA; }
static inline int spool_averror_decoder_not_found(void) { return AVERROR_DECODER_NOT_FOUND; }
static inline int spool_averror_patch_welcome(void) { return AVERROR_PATCHWELCOME; }
static inline int64_t spool_no_timestamp(void) { return AV_NOPTS_VALUE; }

// The code of a system error as libav gives it; its own inverse.
static inline int spool_averror(int code) { return AVERROR(code); }

static inline AVRational spool_rational(int numerator, int denominator) {
  return (AVRational){numerator, denominator};
}

// Whether a packet's sound is known to be damaged.
static inline int spool_packet_is_corrupt(const AVPacket *packet) {
  return (packet->flags & AV_PKT_FLAG_CORRUPT) != 0;
}

// Whether a decoder concealed something in a frame.
static inline int spool_frame_is_damaged(const AVFrame *frame) {
  return frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
}

// Whether a stream is nothing but a cover picture.
static inline int spool_has_picture(const AVStream *stream) {
  return (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0 && stream->attached_pic.size > 0;
}

// Adds a chapter to what a muxer writes, with times in milliseconds; less than 0 without memory.
static inline int spool_add_chapter(AVFormatContext *context, int64_t start, int64_t end,
                                    const char *title) {
  AVChapter *chapter = (AVChapter *)av_mallocz(sizeof(AVChapter));
  if (!chapter) return AVERROR(ENOMEM);
  int count = (int)context->nb_chapters;
  chapter->id = count;
  chapter->time_base = (AVRational){1, 1000};
  chapter->start = start;
  chapter->end = end;
  int status = av_dict_set(&chapter->metadata, "title", title, 0);
  if (status < 0) return status;
  status = av_dynarray_add_nofree(&context->chapters, &count, chapter);
  context->nb_chapters = (unsigned)count;
  return status;
}
