/* SPDX-License-Identifier: Apache-2.0 */
/* For compilers that come without a C library: GCC has a stdint.h of its own for them. */
#include <stdint-gcc.h>
