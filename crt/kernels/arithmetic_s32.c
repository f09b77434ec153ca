/* The out-of-line forms, for any parameters. */
#include "microgen/arithmetic_s32.h"

MG_ELEMENTWISE_SHARED(mg_add_s32, int32_t, int32_t)
MG_ELEMENTWISE_SHARED(mg_subtract_s32, int32_t, int32_t)
MG_ELEMENTWISE_SHARED(mg_multiply_s32, int32_t, int32_t)
MG_ELEMENTWISE_SHARED(mg_squared_difference_s32, int32_t, int32_t)
