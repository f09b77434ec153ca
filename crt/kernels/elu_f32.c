/* The out-of-line form, for any parameters. */
#include "microgen/elu_f32.h"

MG_UNARY_SHARED(mg_elu_f32, float)
