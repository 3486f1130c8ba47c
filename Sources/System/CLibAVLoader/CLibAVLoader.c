// For dl_iterate_phdr.
#define _GNU_SOURCE
#include "CLibAVLoader.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Hidden, so that the libraries themselves never find the forwarding functions in place of their
// own.
#pragma GCC visibility push(hidden)
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/base64.h>
#include <libavutil/channel_layout.h>
#include <libavutil/crc.h>
#include <libavutil/log.h>
#include <libavutil/md5.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/tx.h>
#include <libswresample/swresample.h>
#pragma GCC visibility pop

enum { avutil, swresample, avcodec, avformat, library_count };

#define TEXT(value) #value
#define SONAME(name, major) "lib" #name ".so." TEXT(major)

static const char *const library_names[library_count] = {
    [avutil] = SONAME(avutil, LIBAVUTIL_VERSION_MAJOR),
    [swresample] = SONAME(swresample, LIBSWRESAMPLE_VERSION_MAJOR),
    [avcodec] = SONAME(avcodec, LIBAVCODEC_VERSION_MAJOR),
    [avformat] = SONAME(avformat, LIBAVFORMAT_VERSION_MAJOR),
};

enum {
#define FORWARD(library, result, name, parameters, arguments) index_##name,
#define FORWARD_VOID(library, name, parameters, arguments) index_##name,
#define FIND(library, name) index_##name,
#include "Functions.h"
#undef FORWARD
#undef FORWARD_VOID
#undef FIND
  function_count
};

static const struct {
  int library;
  const char *name;
} functions[function_count] = {
#define FORWARD(library, result, name, parameters, arguments) {library, #name},
#define FORWARD_VOID(library, name, parameters, arguments) {library, #name},
#define FIND(library, name) {library, #name},
#include "Functions.h"
#undef FORWARD
#undef FORWARD_VOID
#undef FIND
};

static void *addresses[function_count];
static void *libraries[library_count];
static char load_error[256];
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static _Thread_local char first_message[512];

static void keep_message(void *source, int level, const char *format, va_list values) {
  if (level > AV_LOG_ERROR || first_message[0]) return;
  // Without a prefix: it holds an address, which would make every error text unique.
  int prefix = 0;
  av_log_format_line2(NULL, level, format, values, first_message, sizeof first_message, &prefix);
  size_t length = strcspn(first_message, "\r\n");
  while (length > 0 && strchr(" .", first_message[length - 1])) length--;
  first_message[length] = 0;
}

static int count_object(struct dl_phdr_info *object, size_t size, void *counter) {
  (void)object, (void)size;
  ++*(int *)counter;
  return 0;
}

// Gives back the pages that only the dynamic linker has looked at: 40 MB of symbol tables of some 140
// libraries, of which next to nothing is ever called. They stay in the page cache, and one that is
// needed comes back from there. Only of segments that nobody writes: nothing is lost with them.
static int give_pages_back(struct dl_phdr_info *object, size_t size, void *counter) {
  (void)size;
  if (--*(int *)counter >= 0) return 0;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
    uintptr_t start = object->dlpi_addr + segment->p_vaddr;
    uintptr_t end = (start + segment->p_memsz + page - 1) & ~(page - 1);
    start &= ~(page - 1);
    madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

// How many objects were there before libav's.
static int objects_before;

void spool_libav_give_pages_back(void) {
  int others = objects_before;
  if (others > 0) dl_iterate_phdr(give_pages_back, &others);
}

static void load(void) {
  dl_iterate_phdr(count_object, &objects_before);
  for (int index = 0; index < library_count; index++) {
    // Lazy: most of what the libraries need of each other is never called, and binding it takes time.
    libraries[index] = dlopen(library_names[index], RTLD_LAZY | RTLD_LOCAL);
    if (!libraries[index]) {
      snprintf(load_error, sizeof load_error, "%s", dlerror());
      return;
    }
  }
  for (int index = 0; index < function_count; index++) {
    addresses[index] = dlsym(libraries[functions[index].library], functions[index].name);
    if (!addresses[index]) {
      snprintf(load_error, sizeof load_error, "%s has no %s",
               library_names[functions[index].library], functions[index].name);
      return;
    }
  }
  // Objects are told of in the order in which they were opened: the first are none of libav's.
  spool_libav_give_pages_back();
  ((__typeof__(&av_log_set_callback))addresses[index_av_log_set_callback])(keep_message);
}

int spool_libav_load(char *error, size_t length) {
  pthread_once(&load_once, load);
  if (!load_error[0]) return 0;
  if (length > 0) snprintf(error, length, "%s", load_error);
  return -1;
}

const char *spool_libav_encoder_version(const char *function) {
  const char *(*version)(void) = NULL;
  *(void **)&version = dlsym(libraries[avcodec], function);
  return version ? version() : NULL;
}

const char *spool_libav_message(void) { return first_message; }

void spool_libav_forget_message(void) { first_message[0] = 0; }

static void *address(int index) {
  pthread_once(&load_once, load);
  if (load_error[0]) {
    fprintf(stderr, "spool: %s\n", load_error);
    abort();
  }
  return addresses[index];
}

#define FORWARD(library, result, name, parameters, arguments) \
  result name parameters { return ((__typeof__(&name))address(index_##name)) arguments; }
#define FORWARD_VOID(library, name, parameters, arguments) \
  void name parameters { ((__typeof__(&name))address(index_##name)) arguments; }
#define FIND(library, name)
#include "Functions.h"

#define FOUND(name) ((__typeof__(&name))address(index_##name))

struct SwrContext *spool_resampler_make(const void *out_layout, int out_format, int out_rate,
                                        const void *in_layout, int in_format, int in_rate) {
  struct SwrContext *context = NULL;
  FOUND(swr_alloc_set_opts2)
  (&context, (AVChannelLayout *)out_layout, out_format, out_rate, (AVChannelLayout *)in_layout,
   in_format, in_rate, 0, NULL);
  return context;
}

int spool_resampler_convert(struct SwrContext *context, uint8_t **out, int out_count,
                            const uint8_t **in, int in_count) {
  return FOUND(swr_convert)(context, out, out_count, in, in_count);
}

// The bytes of a file that libav may read, and where it reads next, from the first of them.
struct stretch {
  int file;
  int64_t start, length, position;
};

static int read_stretch(void *opaque, uint8_t *bytes, int count) {
  struct stretch *stretch = opaque;
  const int64_t rest = stretch->length - stretch->position;
  if (rest <= 0) return AVERROR_EOF;
  ssize_t got;
  do {
    got = pread(stretch->file, bytes, count < rest ? count : rest,
                stretch->start + stretch->position);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return AVERROR(errno);
  if (got == 0) return AVERROR_EOF;
  stretch->position += got;
  return (int)got;
}

static int64_t seek_stretch(void *opaque, int64_t offset, int whence) {
  struct stretch *stretch = opaque;
  int64_t base = 0;
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE: return stretch->length;
    case SEEK_SET: break;
    case SEEK_CUR: base = stretch->position; break;
    case SEEK_END: base = stretch->length; break;
    default: return AVERROR(EINVAL);
  }
  if (__builtin_add_overflow(base, offset, &offset) || offset < 0) return AVERROR(EINVAL);
  return stretch->position = offset;
}

struct AVIOContext *spool_reader_open(int file, int64_t start, int64_t length) {
  const int room = 1 << 15;
  struct stretch *stretch = av_mallocz(sizeof *stretch);
  uint8_t *bytes = av_malloc(room);
  AVIOContext *io = NULL;
  if (stretch && bytes) {
    *stretch = (struct stretch){file, start, length, 0};
    io = FOUND(avio_alloc_context)(bytes, room, 0, stretch, read_stretch, NULL, seek_stretch);
  }
  if (!io) {
    av_freep(&stretch);
    av_freep(&bytes);
  }
  return io;
}

void spool_reader_close(struct AVIOContext *io) {
  if (!io) return;
  av_freep(&io->opaque);
  av_freep(&io->buffer);
  avio_context_free(&io);
}

size_t spool_md5_size(void) { return (size_t)*FOUND(av_md5_size); }
