/* The out-of-line forms, for any parameters. */
#include "microgen/extremum.h"

MG_ELEMENTWISE_SHARED(mg_maximum_s8, int8_t, int8_t)
MG_ELEMENTWISE_SHARED(mg_maximum_s16, int16_t, int16_t)
MG_ELEMENTWISE_SHARED(mg_maximum_s32, int32_t, int32_t)
MG_ELEMENTWISE_SHARED(mg_maximum_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_minimum_s8, int8_t, int8_t)
MG_ELEMENTWISE_SHARED(mg_minimum_s16, int16_t, int16_t)
MG_ELEMENTWISE_SHARED(mg_minimum_s32, int32_t, int32_t)
MG_ELEMENTWISE_SHARED(mg_minimum_f32, float, float)
