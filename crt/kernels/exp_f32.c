/* The out-of-line form, for any parameters. */
#include "microgen/exp_f32.h"

MG_UNARY_SHARED(mg_exp_f32, float)
