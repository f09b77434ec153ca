/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed memory for what modules are made into when they are loaded: taken, never given back. */
#ifndef MICROGEN_MODULE_POOL_H
#define MICROGEN_MODULE_POOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of every block, and to be of the memory itself. */
#define MG_POOL_ALIGNMENT 8U
#define MG_POOL_ALIGNED(nbytes)                                                                    \
    (((nbytes) + MG_POOL_ALIGNMENT - 1U) / MG_POOL_ALIGNMENT * MG_POOL_ALIGNMENT)

typedef struct {
    uint8_t *at;
    uint8_t *end;
} mg_pool;

/* `count` objects of `size` bytes, all 0; NULL if there is not so much left. A block takes
 * MG_POOL_ALIGNED(count * size) bytes; one of 0 bytes takes none, and its address means nothing. */
void *mg_pool_take(mg_pool *pool, size_t count, size_t size);

#ifdef __cplusplus
}
#endif

#endif
