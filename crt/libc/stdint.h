/* SPDX-License-Identifier: Apache-2.0 */
/* For compilers without a C library: GCC has its own stdint.h for them. */
#include <stdint-gcc.h>
