/* The out-of-line forms, for any parameters. */
#include "microgen/arithmetic_s16.h"

MG_ELEMENTWISE_SHARED(mg_add_s16, int16_t, int16_t)
MG_ELEMENTWISE_SHARED(mg_subtract_s16, int16_t, int16_t)
MG_ELEMENTWISE_SHARED(mg_multiply_s16, int16_t, int16_t)
