/* The out-of-line form, for any parameters. */
#include "microgen/sqrt_f32.h"

MG_UNARY_SHARED(mg_sqrt_f32, float)
