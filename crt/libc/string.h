/* SPDX-License-Identifier: Apache-2.0 */
/* For compilers without a C library: the functions that crt/src/platform/freestanding.c
 * implements. */
#ifndef MICROGEN_LIBC_STRING_H
#define MICROGEN_LIBC_STRING_H

#include "platform/freestanding.h"

#endif
