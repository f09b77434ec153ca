/* The out-of-line form, for any parameters. */
#include "microgen/log_f32.h"

MG_UNARY_SHARED(mg_log_f32, float)
