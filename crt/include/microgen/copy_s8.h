/* Copy of an int8 tensor. */
#ifndef MICROGEN_COPY_S8_H
#define MICROGEN_COPY_S8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t size; /* bytes */
} mg_copy_s8_params;

/* Copies input [size] to output [size]; they must not overlap. */
void mg_copy_s8(const mg_copy_s8_params *p, const int8_t *input, int8_t *output);

MG_INLINE void mg_copy_s8_body(const mg_copy_s8_params *p, const int8_t *input, int8_t *output)
{
    (void)memcpy(output, input, (size_t)p->size);
}

#ifdef __cplusplus
}
#endif

#endif
