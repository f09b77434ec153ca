/* The out-of-line form, for any parameters. */
#include "microgen/hard_swish_f32.h"

MG_UNARY_SHARED(mg_hard_swish_f32, float)
