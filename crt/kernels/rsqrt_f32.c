/* The out-of-line form, for any parameters. */
#include "microgen/rsqrt_f32.h"

MG_UNARY_SHARED(mg_rsqrt_f32, float)
