/* The out-of-line form, for any parameters. */
#include "microgen/sigmoid_f32.h"

MG_UNARY_SHARED(mg_sigmoid_f32, float)
