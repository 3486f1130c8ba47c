#define _GNU_SOURCE
#include "Libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

enum { sphinxbase, pocketsphinx, espeak, library_count };

static const char *const library_names[library_count] = {
    [sphinxbase] = "libsphinxbase.so.3",
    [pocketsphinx] = "libpocketsphinx.so.3",
    [espeak] = "libespeak-ng.so.1",
};

enum {
#define FORWARD(library, result, name, parameters, arguments) index_##name,
#define FORWARD_VOID(library, name, parameters, arguments) index_##name,
#include "Functions.h"
#undef FORWARD
#undef FORWARD_VOID
  function_count
};

static const struct {
  int library;
  const char *name;
} functions[function_count] = {
#define FORWARD(library, result, name, parameters, arguments) {library, #name},
#define FORWARD_VOID(library, name, parameters, arguments) {library, #name},
#include "Functions.h"
#undef FORWARD
#undef FORWARD_VOID
};

static void *addresses[function_count];
static void *handles[library_count];
static char load_errors[library_count][256];
static pthread_once_t sphinx_once = PTHREAD_ONCE_INIT;
static pthread_once_t espeak_once = PTHREAD_ONCE_INIT;

static void load(int library) {
  char *error = load_errors[library];
  void *handle = handles[library] = dlopen(library_names[library], RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    snprintf(error, sizeof load_errors[library], "%s", dlerror());
    return;
  }
  for (int index = 0; index < function_count; index++) {
    if (functions[index].library != library) continue;
    addresses[index] = dlsym(handle, functions[index].name);
    if (!addresses[index])
      snprintf(error, sizeof load_errors[library], "%s has no %s", library_names[library],
               functions[index].name);
  }
}

static void load_sphinx(void) {
  load(sphinxbase);
  load(pocketsphinx);
}

static void load_espeak(void) { load(espeak); }

static int tell(int library, char *error, size_t length) {
  if (!load_errors[library][0]) return 0;
  if (length > 0) snprintf(error, length, "%s", load_errors[library]);
  return -1;
}

int spool_sphinx_load(char *error, size_t length) {
  pthread_once(&sphinx_once, load_sphinx);
  return tell(sphinxbase, error, length) || tell(pocketsphinx, error, length) ? -1 : 0;
}

int spool_espeak_load(char *error, size_t length) {
  pthread_once(&espeak_once, load_espeak);
  return tell(espeak, error, length);
}

int spool_espeak_reopen(char *error, size_t length) {
  if (spool_espeak_load(error, length) != 0) return -1;
  // The libraries of sound cards that it would use for playing stay: opening them takes longer.
  dlopen("libpcaudio.so.0", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  espeak_Terminate();
  dlclose(handles[espeak]);
  load(espeak);
  return tell(espeak, error, length);
}

int spool_sphinx_path(char *path, size_t length) {
  Dl_info info;
  char resolved[PATH_MAX];
  if (spool_sphinx_load(NULL, 0) != 0 || !dladdr(addresses[index_ps_init], &info)) return -1;
  if (!realpath(info.dli_fname, resolved) || strlen(resolved) >= length) return -1;
  strcpy(path, resolved);
  return 0;
}

static void *address(int index) {
  int library = functions[index].library;
  if (library == espeak) {
    pthread_once(&espeak_once, load_espeak);
  } else {
    pthread_once(&sphinx_once, load_sphinx);
  }
  if (load_errors[library][0]) {
    fprintf(stderr, "spool: %s\n", load_errors[library]);
    abort();
  }
  return addresses[index];
}

#define FORWARD(library, result, name, parameters, arguments) \
  result name parameters { return ((__typeof__(&name))address(index_##name)) arguments; }
#define FORWARD_VOID(library, name, parameters, arguments) \
  void name parameters { ((__typeof__(&name))address(index_##name)) arguments; }
#include "Functions.h"
