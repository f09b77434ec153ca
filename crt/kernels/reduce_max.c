/* The out-of-line forms, for any parameters. */
#include "microgen/reduce_max.h"

#define MG_REDUCE_MAX_SHARED(symbol, type)                                                         \
    void symbol(const symbol##_params *p, const type *input, type *output)                         \
    {                                                                                              \
        symbol##_body(p, input, output);                                                           \
    }

MG_REDUCE_MAX_SHARED(mg_reduce_max_s8, int8_t)
MG_REDUCE_MAX_SHARED(mg_reduce_max_s16, int16_t)
MG_REDUCE_MAX_SHARED(mg_reduce_max_s32, int32_t)
