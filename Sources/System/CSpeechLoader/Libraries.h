// The libraries' own declarations. Hidden, so that the libraries themselves never find the
// forwarding functions in place of their own.
#pragma once
#include "CSpeechLoader.h"

// Before the others include them, which would hide the C library as well.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)
#include <espeak-ng/speak_lib.h>
#include <pocketsphinx/pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/fe.h>
#include <sphinxbase/feat.h>
#include <sphinxbase/fsg_model.h>
#include <sphinxbase/logmath.h>
#pragma GCC visibility pop
