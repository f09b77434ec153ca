/* SPDX-License-Identifier: Apache-2.0 */
/* The memories of the simulated accelerator. */
#ifndef MICROGEN_ACCELERATOR_MEMORY_H
#define MICROGEN_ACCELERATOR_MEMORY_H

#include <stdint.h>

/* A memory that a stream addresses. Number 0 contains constants and is aligned to 4 bytes; the
 * others may have any alignment. */
typedef struct {
    const void *read;
    void *write; /* the same bytes, or NULL if they are read-only */
    uint32_t bytes;
} mg_accelerator_memory;

#endif
