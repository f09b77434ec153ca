/* The out-of-line form, for any parameters. */
#include "microgen/abs_f32.h"

MG_UNARY_SHARED(mg_abs_f32, float)
