#include "Lilv.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static const char library_name[] = "liblilv-0.so.0";

enum {
#define FORWARD(result, name, parameters, arguments) index_##name,
#define FORWARD_VOID(name, parameters, arguments) index_##name,
#include "LilvFunctions.h"
#undef FORWARD
#undef FORWARD_VOID
  function_count
};

static const char *const names[function_count] = {
#define FORWARD(result, name, parameters, arguments) #name,
#define FORWARD_VOID(name, parameters, arguments) #name,
#include "LilvFunctions.h"
#undef FORWARD
#undef FORWARD_VOID
};

static void *addresses[function_count];
static char load_error[256];
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *handle = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    snprintf(load_error, sizeof load_error, "%s", dlerror());
    return;
  }
  for (int index = 0; index < function_count; index++) {
    addresses[index] = dlsym(handle, names[index]);
    if (!addresses[index])
      snprintf(load_error, sizeof load_error, "%s has no %s", library_name, names[index]);
  }
}

int spool_lilv_load(char *error, size_t length) {
  pthread_once(&load_once, load);
  if (!load_error[0]) return 0;
  if (length > 0) snprintf(error, length, "%s", load_error);
  return -1;
}

static void *address(int index) {
  pthread_once(&load_once, load);
  if (load_error[0]) {
    fprintf(stderr, "spool: %s\n", load_error);
    abort();
  }
  return addresses[index];
}

#define FORWARD(result, name, parameters, arguments) \
  result name parameters { return ((__typeof__(&name))address(index_##name)) arguments; }
#define FORWARD_VOID(name, parameters, arguments) \
  void name parameters { ((__typeof__(&name))address(index_##name)) arguments; }
#include "LilvFunctions.h"

void spool_flush_subnormals(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | 1 << 24));
#endif
}

LADSPA_Descriptor_Function spool_ladspa_open(const char *path, char *error, size_t length) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  LADSPA_Descriptor_Function find =
      handle ? (LADSPA_Descriptor_Function)dlsym(handle, "ladspa_descriptor") : NULL;
  if (find) return find;
  const char *reason = handle ? NULL : dlerror();
  snprintf(error, length, "%s", reason ? reason : "it is no LADSPA library");
  return NULL;
}
