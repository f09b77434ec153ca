/* SPDX-License-Identifier: Apache-2.0 */
/* For compilers that come without a C library: what crt/src/platform/freestanding.c implements. */
#ifndef MICROGEN_LIBC_STRING_H
#define MICROGEN_LIBC_STRING_H

#include "platform/freestanding.h"

#endif
