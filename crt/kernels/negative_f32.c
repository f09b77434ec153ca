/* The out-of-line form, for any parameters. */
#include "microgen/negative_f32.h"

MG_UNARY_SHARED(mg_negative_f32, float)
