#include "CLibAVLoader.h"
