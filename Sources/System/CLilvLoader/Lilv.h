// The library's own declarations beside ours, so that the compiler sees where the two disagree.
#pragma once
#include "CLilvLoader.h"
// What it includes, before its wish to be visible is made ours to be hidden.
#include <lv2/urid/urid.h>
#include <stdarg.h>
#include <stdio.h>
#define visibility(kind) visibility("hidden")
#include <lilv/lilv.h>
#undef visibility
