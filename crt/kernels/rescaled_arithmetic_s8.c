/* The out-of-line forms, for any parameters. */
#include "microgen/rescaled_arithmetic_s8.h"

MG_ELEMENTWISE_SHARED(mg_rescaled_add_s8, int8_t, int8_t)
MG_ELEMENTWISE_SHARED(mg_rescaled_subtract_s8, int8_t, int8_t)
MG_ELEMENTWISE_SHARED(mg_rescaled_multiply_s8, int8_t, int8_t)
