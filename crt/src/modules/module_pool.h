/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed memory for loaded modules. Blocks are taken and never given back. */
#ifndef MICROGEN_MODULE_POOL_H
#define MICROGEN_MODULE_POOL_H

#include <stddef.h>

#include "microgen/inline.h"

/* The alignment of every block. The memory itself must have it, too. */
#define MG_POOL_ALIGNMENT 8U
#define MG_POOL_ALIGNED(nbytes)                                                                    \
    (((nbytes) + MG_POOL_ALIGNMENT - 1U) / MG_POOL_ALIGNMENT * MG_POOL_ALIGNMENT)

typedef struct {
    uint8_t *at;
    uint8_t *end;
} mg_pool;

/* Takes `count` objects of `size` bytes, all 0. Returns NULL if there is not enough left. A block
 * takes MG_POOL_ALIGNED(count * size) bytes. A block of 0 bytes takes none, and its address is
 * meaningless. */
MG_EXTERN void *mg_pool_take(mg_pool *pool, size_t count, size_t size);

#endif
