/* The out-of-line forms, for any parameters. */
#include "microgen/arithmetic_f32.h"

MG_ELEMENTWISE_SHARED(mg_add_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_subtract_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_multiply_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_divide_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_squared_difference_f32, float, float)
