extension PluginScaffold {
  static let cBuild = """
    #!/bin/sh
    # Builds the plugin beside this file. CC names another compiler.
    cd "$(dirname "$0")" || exit 1
    exec "${CC:-cc}" -O2 -Wall -Wextra -std=c11 -o @NAME@ @PROGRAM@ -lm

    """

  static let c = #"""
    // A sound stage that speaks Spool's protocol: lines of JSON with samples behind them.
    #define _GNU_SOURCE
    #include <math.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    // The number behind "NAME":. Enough for what Spool sends; texts need a real reader of JSON.
    static double number(const char *line, const char *name, double fallback) {
      char key[64];
      snprintf(key, sizeof key, "\"%s\":", name);
      const char *place = strstr(line, key);
      return place ? strtod(place + strlen(key), NULL) : fallback;
    }

    static int is(const char *line, const char *type) {
      char key[64];
      snprintf(key, sizeof key, "\"type\":\"%s\"", type);
      return strstr(line, key) != NULL;
    }

    int main(void) {
      char *line = NULL;
      size_t room = 0;
      if (getline(&line, &room, stdin) < 0) return 1;
      double rate = number(line, "rate", 48000);
      size_t channels = (size_t)number(line, "channels", 2);
      double slope = 1 - exp(-2 * M_PI * number(line, "frequency", 80) / rate);
      double gain = pow(10, number(line, "gain", 0) / 20);
      // All that is remembered of the sound so far: here, the low part of each channel.
      size_t size = channels * sizeof(double);
      double *state = calloc(channels, sizeof(double));
      if (!state) return 1;
      printf("{\"type\":\"ready\",\"protocol\":1,\"snapshots\":true}\n");
      fflush(stdout);

      float *samples = NULL;
      while (getline(&line, &room, stdin) >= 0) {
        size_t bytes = (size_t)number(line, "bytes", 0);
        samples = realloc(samples, bytes + 1);
        if (!samples || fread(samples, 1, bytes, stdin) != bytes) return 1;
        if (is(line, "sound")) {
          for (size_t n = 0; n < bytes / sizeof(float); n++) {
            double *low = &state[n % channels];
            *low += slope * (samples[n] - *low);
            samples[n] = (float)(gain * (samples[n] - *low));
          }
          printf("{\"type\":\"sound\",\"frames\":%.0f,\"bytes\":%zu}\n", number(line, "frames", 0), bytes);
          fwrite(samples, 1, bytes, stdout);
        } else if (is(line, "snapshot")) {
          printf("{\"type\":\"snapshot\",\"bytes\":%zu}\n", size);
          fwrite(state, 1, size, stdout);
        } else if (is(line, "restore")) {
          if (bytes != size) return 1;
          memcpy(state, samples, size);
          printf("{\"type\":\"restored\"}\n");
        } else if (is(line, "end")) {
          printf("{\"type\":\"done\"}\n");
        }
        fflush(stdout);
      }
      free(samples);
      free(state);
      free(line);
      return 0;
    }

    """#
}
