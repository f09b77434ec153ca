/* The out-of-line form, for any parameters. */
#include "microgen/tanh_f32.h"

MG_UNARY_SHARED(mg_tanh_f32, float)
