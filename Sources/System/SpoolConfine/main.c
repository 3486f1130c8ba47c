// The launcher as a program of its own, which starts in 2 ms: Spool's own executable, which is the
// launcher where this one is not beside it, takes five times as long.
#include "CConfinement.h"

int main(int count, char *const *words) { return confinement_launch(count - 1, words + 1); }
