/* For compilers that come without a C library: what crt/src/freestanding.c implements. */
#ifndef MICROGEN_LIBC_STRING_H
#define MICROGEN_LIBC_STRING_H

#include "freestanding.h"

#endif
